import { randomUUID } from 'node:crypto';
import type { Result } from 'ioredis';
import type { Redis } from './redis.ts';

/**
 * Best-effort notifications. A message may be lost, so subscribers must also poll.
 */
export type PubSub = {
  publish(channel: string, message: string): void;
  /** @returns a function that cancels the subscription. */
  subscribe(channel: string, listener: (message: string) => void): () => void;
  /** Resolves when all published messages are sent. */
  flush(): Promise<void>;
};

/** Notifications within this process. */
export function createPubSub(): PubSub {
  const listeners = new Map<string, Set<(message: string) => void>>();
  return {
    publish(channel, message) {
      for (const listener of listeners.get(channel) ?? []) listener(message);
    },

    subscribe(channel, listener) {
      const channelListeners = listeners.get(channel) ?? new Set();
      listeners.set(channel, channelListeners.add(listener));
      return () => {
        channelListeners.delete(listener);
        if (channelListeners.size === 0 && listeners.get(channel) === channelListeners)
          listeners.delete(channel);
      };
    },

    flush: async () => {},
  };
}

/** Publishes one message on each channel. */
const PUBLISH = `for index, channel in ipairs(KEYS) do redis.call('PUBLISH', channel, ARGV[index]) end`;

/** The most messages of one command. */
const MAX_MESSAGES = 1_000;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** @param channelsAndTexts all channels, then all texts. */
    publishAll(channels: number, ...channelsAndTexts: string[]): Result<null, Context>;
  }
}

/** How long a message waits for others to share its write: a round trip to Redis costs more than the messages. */
const SEND_AFTER_MS = 5;

/**
 * Notifications between all replicas of an installation. Local subscribers receive messages at once, even while Redis
 * is unavailable. Remote messages are lost while Redis is unavailable and until a new subscription reaches it.
 */
export function createRedisPubSub({ client, subscriber, prefix }: Redis): PubSub {
  const local = createPubSub();
  const self = `${randomUUID()} `;
  /** The number of listeners per channel. */
  const counts = new Map<string, number>();
  // Ignores failures: `ready` subscribes again after a reconnect.
  const quietly = (sent: Promise<unknown>) => sent.catch(() => {});
  client.defineCommand('publishAll', { lua: PUBLISH });

  subscriber.on('ready', () => {
    const channels = [...counts.keys()].map((channel) => prefix + channel);
    if (channels.length > 0) quietly(subscriber.subscribe(...channels));
  });
  subscriber.on('message', (name: string, text: string) => {
    if (text.startsWith(self)) return;
    local.publish(name.slice(prefix.length), text.slice(self.length));
  });

  /** Messages for the next write. */
  const outgoing: [channel: string, text: string][] = [];
  let timer: NodeJS.Timeout | undefined;
  let sent: Promise<unknown> = Promise.resolve();
  const send = () => {
    clearTimeout(timer);
    timer = undefined;
    // A chat has four messages, and a command costs the client more than a message.
    while (outgoing.length > 0) {
      const messages = outgoing.splice(0, MAX_MESSAGES);
      const channels = messages.map(([channel]) => channel);
      const texts = messages.map(([, text]) => text);
      const publishing = quietly(client.publishAll(channels.length, ...channels, ...texts));
      sent = Promise.all([sent, publishing]).then(() => {});
    }
  };

  return {
    publish(channel, message) {
      local.publish(channel, message);
      // Not a deadline: it gathers messages, and `flush` sends them sooner.
      timer ??= setTimeout(send, SEND_AFTER_MS);
      outgoing.push([prefix + channel, self + message]);
    },

    subscribe(channel, listener) {
      const end = local.subscribe(channel, listener);
      const count = counts.get(channel) ?? 0;
      counts.set(channel, count + 1);
      if (count === 0) quietly(subscriber.subscribe(prefix + channel));
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        end();
        const rest = (counts.get(channel) ?? 1) - 1;
        if (rest > 0) {
          counts.set(channel, rest);
          return;
        }
        counts.delete(channel);
        quietly(subscriber.unsubscribe(prefix + channel));
      };
    },

    async flush() {
      send();
      await sent;
    },
  };
}
