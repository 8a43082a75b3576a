import type { PubSub } from './pubsub.ts';

/** A message of a channel. All followers in this process get the same object. */
export type Notice = {
  message: string;
  /**
   * Shares a read between the followers of the notice. The reads of a key return results of the same type. A result is
   * shared for a second, and a failure with the callers that wait for it.
   */
  once<Result>(key: string, read: () => Promise<Result>): Promise<Result>;
};

/**
 * Yields the notices of a channel until the signal aborts. Of equal messages that arrive while the follower is busy, it
 * yields the last one.
 */
export type FollowNotices = (channel: string, signal: AbortSignal) => AsyncGenerator<Notice, void>;

/** The most pending notices of a slow follower. The oldest are dropped first. */
const MAX_PENDING = 1_000;
/** How long the results of a notice are shared. Slow followers must not keep them in memory. */
const SHARED_MS = 1_000;

/** Follows channels. Each channel has one subscription in this process, whatever the number of its followers. */
export function createNotices(pubsub: PubSub): FollowNotices {
  type Listener = (notice: Notice) => void;
  const channels = new Map<string, { listeners: Set<Listener>; unsubscribe: () => void }>();

  const open = (channel: string) => {
    const listeners = new Set<Listener>();
    const unsubscribe = pubsub.subscribe(channel, (message) => {
      const notice = createNotice(message);
      for (const listener of listeners) listener(notice);
    });
    return { listeners, unsubscribe };
  };

  const subscribe = (channel: string, listener: Listener) => {
    const opened = channels.get(channel) ?? open(channel);
    channels.set(channel, opened);
    opened.listeners.add(listener);
    return () => {
      opened.listeners.delete(listener);
      if (opened.listeners.size > 0) return;
      opened.unsubscribe();
      channels.delete(channel);
    };
  };

  return async function* follow(channel, signal) {
    const pending = new Map<string, Notice>();
    let wake = () => {};
    const unsubscribe = subscribe(channel, (notice) => {
      pending.delete(notice.message);
      pending.set(notice.message, notice);
      const [first] = pending.keys();
      if (pending.size > MAX_PENDING && first !== undefined) pending.delete(first);
      wake();
    });
    const onAbort = () => wake();
    signal.addEventListener('abort', onAbort);
    try {
      while (!signal.aborted) {
        for (const [message, notice] of pending) {
          pending.delete(message);
          yield notice;
          if (signal.aborted) return;
        }
        if (pending.size === 0 && !signal.aborted)
          await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
    }
  };
}

export function isNotice(value: unknown): value is Notice {
  return typeof value === 'object' && value !== null && 'once' in value;
}

function createNotice(message: string): Notice {
  const results = new Map<string, Promise<unknown>>();
  return {
    message,
    once<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
      // Its reads return results of the same type.
      const known = results.get(key) as Promise<Result> | undefined;
      if (known) return known;
      if (results.size === 0) setTimeout(() => results.clear(), SHARED_MS).unref();
      const result = read();
      results.set(key, result);
      return result;
    },
  };
}
