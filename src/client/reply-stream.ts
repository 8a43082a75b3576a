import type { Answer, Connection, Settings } from './connection.ts';
import { startDeadline } from './deadline.ts';
import type { EventSource } from './event-stream.ts';
import { failure, header } from './failure.ts';
import { waitToRetry } from './retry.ts';
import type { RunSource, StreamEvent } from './run-source.ts';
import type { RunDone } from './runs.ts';
import { readStream } from './stream-reader.ts';

/**
 * A reply that arrives while the model writes it. Iterating it yields the text, piece by piece, and survives lost
 * connections. Breaking out of the loop cancels the run.
 */
export type ReplyStream<Reply> = AsyncIterable<string> & {
  /** ID of the run, as soon as the server sent it. */
  readonly runId: string | undefined;
  /**
   * Reads the stream to its end, unless a loop does, and resolves with the whole reply. It costs one more request.
   *
   * @throws RunError if the run failed or was cancelled.
   */
  finalReply(): Promise<Reply>;
  /** Ends the loop and cancels the run. Resolves when the server knows. */
  abort(): Promise<void>;
};

export function createReplyStream<Reply>(
  connection: Connection,
  source: RunSource<Reply>,
  settings: Settings,
): ReplyStream<Reply> {
  const abortion = new AbortController();
  let runId: string | undefined;
  let isTaken = false;
  let cancellation: Promise<void> | undefined;
  let reply: Promise<Answer<Reply>> | undefined;
  let settle: (reason?: { error: unknown }) => void;
  /** Resolves at the end of the reply. */
  const ended = new Promise<void>((resolve, reject) => {
    settle = (reason) => (reason ? reject(reason.error) : resolve());
  });
  ended.catch(() => {});

  async function* read(): AsyncGenerator<string> {
    const { timeout, maxRetries, signals } = settings;
    const deadline = startDeadline(timeout, [...signals, abortion.signal]);
    const { signal } = deadline;
    const freshText = createFreshText();
    let isActive = false;
    const cancel = () => {
      if (isActive) cancellation ??= cancelRun(connection, source, settings, runId);
    };
    signal.addEventListener('abort', cancel);
    const open = async (after: number | undefined) => {
      isActive = true;
      const request = runId ? source.follow(runId, after) : source.start;
      const opened = await connection.open(request, settings, signal);
      runId ??= opened && runIdOf(opened);
      return opened && freshText(source.decode(opened), after === undefined);
    };
    const recover = (error: unknown, failures: number) =>
      waitToRetry(error, failures, maxRetries, deadline);
    try {
      signal.throwIfAborted();
      for await (const event of readStream({ signal, open, recover })) {
        deadline.pause();
        if ('runId' in event) ({ runId } = event);
        if (event.type === 'text' && event.delta) yield event.delta;
        if (event.type === 'done') {
          assertWhole(event);
          break;
        }
        deadline.restart();
      }
      isActive = false;
      settle();
    } catch (error) {
      isActive &&= signal.aborted;
      settle({ error });
      if (!abortion.signal.aborted) throw error;
    } finally {
      deadline.stop();
      cancel();
      settle({ error: aborted() });
    }
  }

  const stream: ReplyStream<Reply> = {
    get runId() {
      return runId;
    },
    [Symbol.asyncIterator]() {
      if (isTaken) throw new TypeError('A stream can be read once.');
      isTaken = true;
      return read();
    },
    async finalReply() {
      if (!isTaken) for await (const _delta of stream);
      await ended;
      reply ??= connection.call(source.whole, settings, source.read);
      return (await reply).data;
    },
    async abort() {
      abortion.abort(aborted());
      await cancellation;
    },
  };
  return stream;
}

/** Removes text that was read before from the streams of a reply. A numbered event without fresh text has an empty text. */
function createFreshText() {
  /** Characters of text that were read, and the position in the current stream. */
  let read = 0;
  let position = 0;
  return async function* (events: AsyncIterable<StreamEvent>, isWhole: boolean) {
    if (isWhole) position = 0;
    for await (const event of events) {
      if (event.type === 'text') {
        position += event.delta.length;
        event.delta = position > read ? event.delta.slice(read - position) : '';
        read += event.delta.length;
        if (!event.delta && !event.seq) continue;
      }
      yield event;
    }
  };
}

function runIdOf({ response }: EventSource): string | undefined {
  return header(response, 'x-run-id');
}

function aborted(): DOMException {
  return new DOMException('The stream was aborted.', 'AbortError');
}

/** @throws RunError if the run failed or was cancelled. */
export function assertWhole({ status, error, runId }: Omit<RunDone, 'seq'>): void {
  if (status === undefined) return;
  throw failure({ code: 'cancelled', message: 'The run was cancelled.', ...error, runId });
}

/** The longest time to find and cancel a run that nobody waits for. */
const CANCEL_LIMIT_MS = 30_000;

/**
 * Cancels a run in the background. A run that cannot be cancelled ends by itself. Without an ID, it joins the stream of
 * the run to learn it.
 */
export async function cancelRun<Reply>(
  connection: Connection,
  source: RunSource<Reply>,
  given: Settings,
  runId?: string,
): Promise<void> {
  const settings = { ...given, timeout: CANCEL_LIMIT_MS, signals: [] };
  const deadline = startDeadline(CANCEL_LIMIT_MS);
  try {
    const joined = runId
      ? undefined
      : await connection.open(source.join, settings, deadline.signal);
    runId ??= joined && runIdOf(joined);
    if (joined && !runId)
      for await (const event of source.decode(joined)) {
        if ('runId' in event) ({ runId } = event);
        break;
      }
    if (runId) await connection.call(source.cancel(runId), settings, () => {});
  } catch {
    // The caller has its own error already.
  } finally {
    deadline.abort();
  }
}
