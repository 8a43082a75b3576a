import { setTimeout } from 'node:timers/promises';
import type { Html, Target, TelegramBot } from './api.ts';
import { isTelegramError } from './error.ts';
import { toMessages } from './html.ts';

/** Time for the writer. Tests replace it. */
export type WriterClock = {
  /** Milliseconds. */
  now(): number;
  /** Resolves after the time, or rejects when the signal aborts. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
};

const CLOCK: WriterClock = {
  now: () => performance.now(),
  pause: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal, ref: false }),
};

/** Telegram allows about one message or edit a second in a chat. Source: Telegram's "Bots FAQ". */
const EDIT_EVERY_MS = 1_000;
/** How long the first message gathers text, so that a short reply is one message without edits. */
const GATHER_MS = 300;
/** A longer wait is left to the queue. */
const MAX_WAIT_S = 30;

export type WrittenReply = {
  target: Target;
  /** The messages of the reply that an earlier attempt sent. They are edited. */
  sentIds: readonly number[];
  /** Waits until this process may call Telegram. Rejects if another process may write the reply. */
  untilHeld(signal: AbortSignal): Promise<void>;
  /** Called after each new message. */
  onSent(messageIds: readonly number[]): Promise<void>;
};

/** Its disposal sends nothing more, and waits for the call in progress, so that its message is stored. */
export type ReplyWriter = AsyncDisposable & {
  /** Replaces the whole text. It is sent as soon as the limits of Telegram allow. */
  show(markdown: string): void;
  /**
   * Sends the last text and waits until it is sent.
   *
   * @throws TelegramError
   */
  finish(): Promise<void>;
};

/**
 * Shows a reply as it grows: sends one message and edits it at most once a second, and sends further messages for what
 * does not fit.
 *
 * @param signal stops the writer.
 */
export function startReplyWriter(
  bot: Pick<TelegramBot, 'send' | 'edit' | 'remove'>,
  { target, sentIds, untilHeld, onSent }: WrittenReply,
  signal: AbortSignal,
  clock: WriterClock = CLOCK,
): ReplyWriter {
  const ids = [...sentIds];
  /** The content of each message, as this writer has sent it. */
  const shown: string[] = [];
  let text = '';
  /** The messages of the text when it was last read. */
  let read: { text: string; messages: Html[] } = { text, messages: [] };
  let isLast = false;
  let nextAt = 0;
  let changed = Promise.withResolvers<void>();
  const finished = new AbortController();
  const disposed = new AbortController();
  const stopped = AbortSignal.any([signal, disposed.signal]);

  /** Messages of this reply are answers only once, so that a long one does not repeat the question. */
  const targetOf = (index: number) => (index === 0 ? target : { ...target, replyTo: undefined });

  const replace = async (id: number, message: Html) => {
    try {
      await bot.edit(target, id, message, signal);
    } catch (error) {
      if (!isTelegramError(error, 'message-gone')) throw error;
    }
  };

  const showMessage = async (index: number, message: Html) => {
    const id = ids[index];
    if (id === undefined) {
      ids.push(await bot.send(targetOf(index), message, signal));
      await onSent(ids);
    } else await replace(id, message);
    shown[index] = message.html;
  };

  /** Removes a message of an earlier attempt, whose reply was longer. */
  const removeMessage = async (index: number, id: number) => {
    try {
      await bot.remove(target, id, signal);
    } catch (error) {
      if (!isTelegramError(error, 'message-gone')) throw error;
    }
    ids.splice(index, 1);
  };

  /** The next call that shows the text. Each counts against the limits. */
  const nextChange = (): (() => Promise<void>) | undefined => {
    if (read.text !== text) read = { text, messages: toMessages(text, read.messages) };
    const { messages } = read;
    const index = messages.findIndex(({ html }, at) => shown[at] !== html);
    const message = messages[index];
    if (message) return () => showMessage(index, message);
    const extra = isLast && messages.length > 0 ? ids[messages.length] : undefined;
    return extra === undefined ? undefined : () => removeMessage(messages.length, extra);
  };

  /** @returns milliseconds until the next try. @throws the error if the writer cannot go on. */
  const waitAfter = (error: unknown): number => {
    if (isTelegramError(error, 'too-many')) {
      const waitS = error.retryAfterS ?? 1;
      if (waitS > MAX_WAIT_S) throw error;
      return waitS * 1_000;
    }
    // The next edit shows the same text. Only the last one must not be lost.
    if (isTelegramError(error, 'unreachable') && !isLast) return EDIT_EVERY_MS;
    throw error;
  };

  const gather = () =>
    clock.pause(GATHER_MS, AbortSignal.any([stopped, finished.signal])).catch(() => {});

  /** Waits until a call is allowed. Meanwhile, the text may change. */
  const untilAllowed = async () => {
    const waitMs = nextAt - clock.now();
    if (waitMs > 0) await clock.pause(waitMs, stopped);
    else if (ids.length === 0) await gather();
    stopped.throwIfAborted();
  };

  const write = async () => {
    for (;;) {
      await changed.promise;
      changed = Promise.withResolvers();
      stopped.throwIfAborted();
      while (nextChange()) {
        await untilAllowed();
        await untilHeld(stopped);
        let pauseMs = EDIT_EVERY_MS;
        try {
          await nextChange()?.();
        } catch (error) {
          pauseMs = waitAfter(error);
        }
        nextAt = clock.now() + pauseMs;
      }
      if (isLast) return;
    }
  };

  const writing = write();
  // `finish` reports it.
  writing.catch(() => {});

  return {
    show(markdown) {
      text = markdown;
      changed.resolve();
    },
    async finish() {
      isLast = true;
      finished.abort();
      changed.resolve();
      await writing;
    },
    async [Symbol.asyncDispose]() {
      disposed.abort();
      changed.resolve();
      await writing.catch(() => {});
    },
  };
}
