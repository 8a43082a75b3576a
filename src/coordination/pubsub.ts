import { randomUUID } from 'node:crypto';
import type { Redis } from './redis.ts';

/**
 * Words from one part of Parley to all that wait for them. They only wake: a word may be lost, and whoever waits
 * for one looks again by itself after a while.
 */
export type PubSub = {
  publish(channel: string, message: string): void;
  /** @returns ends the subscription. */
  subscribe(channel: string, listener: (message: string) => void): () => void;
  /** Settles when what was published has left. */
  flush(): Promise<void>;
};

/** Words within this process. */
export function createPubSub(): PubSub {
  const listeners = new Map<string, Set<(message: string) => void>>();
  return {
    publish(channel, message) {
      for (const listener of listeners.get(channel) ?? []) listener(message);
    },

    subscribe(channel, listener) {
      const those = listeners.get(channel) ?? new Set();
      listeners.set(channel, those.add(listener));
      return () => {
        those.delete(listener);
        if (those.size === 0 && listeners.get(channel) === those) listeners.delete(channel);
      };
    },

    flush: async () => {},
  };
}

/** How long a word waits for others: the way to Redis costs more than the words. */
const LEAVE_AFTER_MS = 5;

/**
 * Words between all replicas of an installation. Those of this process reach it at once, whether or not Redis
 * is there; those of others are lost while it is away, and for the moment that a new subscription takes to get
 * there.
 */
export function createRedisPubSub({ client, subscriber, prefix }: Redis): PubSub {
  const local = createPubSub();
  const self = `${randomUUID()} `;
  /** How many listen to each channel. */
  const counts = new Map<string, number>();
  // Away, nothing is sent: what is listened to then is told to the server when it is back.
  const quietly = (sent: Promise<unknown>) => sent.catch(() => {});

  subscriber.on('ready', () => {
    const channels = [...counts.keys()].map((channel) => prefix + channel);
    if (channels.length > 0) quietly(subscriber.subscribe(...channels));
  });
  subscriber.on('message', (name: string, text: string) => {
    if (text.startsWith(self)) return;
    local.publish(name.slice(prefix.length), text.slice(self.length));
  });

  /** Channels and their words, about to leave. */
  const leaving: [channel: string, text: string][] = [];
  let timer: NodeJS.Timeout | undefined;
  let sent: Promise<unknown> = Promise.resolve();
  const leave = () => {
    clearTimeout(timer);
    timer = undefined;
    // What is sent in one moment leaves in one write.
    const words = leaving.splice(0).map((word) => quietly(client.publish(...word)));
    sent = Promise.all([sent, ...words]).then(() => {});
  };

  return {
    publish(channel, message) {
      local.publish(channel, message);
      timer ??= setTimeout(leave, LEAVE_AFTER_MS);
      leaving.push([prefix + channel, self + message]);
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
      leave();
      await sent;
    },
  };
}
