import type { Connection, Settings } from './connection.ts';
import { startDeadline } from './deadline.ts';
import { TimeoutError } from './errors.ts';
import { failure } from './failure.ts';
import { resume } from './resume.ts';
import type { RunSource } from './run-source.ts';
import type { RunDone } from './runs.ts';

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
  let reply: Promise<Reply> | undefined;
  /** How the reading ended; the reason of an end without the whole text. */
  const end = { settle: (_reason?: { error: unknown }) => {} };
  const ended = new Promise<void>((resolve, reject) => {
    end.settle = (reason) => (reason ? reject(reason.error) : resolve());
  });
  ended.catch(() => {});

  async function* read(): AsyncGenerator<string> {
    const { timeout, maxRetries, signals } = settings;
    const deadline = startDeadline(timeout, (ms) => new TimeoutError(ms), [
      ...signals,
      abortion.signal,
    ]);
    const { signal } = deadline;
    let isActive = false;
    const cancel = () => {
      if (isActive) cancellation ??= cancelRun(connection, source, settings, runId);
    };
    signal.addEventListener('abort', cancel);
    const open = async (after: number | undefined) => {
      signal.throwIfAborted();
      isActive = true;
      const request = runId === undefined ? source.start : source.follow(runId, after);
      const opened = await connection.open(request, settings, signal);
      runId ??= opened?.runId;
      return opened && source.decode(opened);
    };
    try {
      for await (const event of resume(open, { maxRetries, deadline })) {
        signal.throwIfAborted();
        if (event.type === 'run_started') runId ??= event.runId;
        if (event.type === 'text') {
          deadline.pause();
          yield event.delta;
        }
        if (event.type === 'done') {
          runId = event.runId;
          isActive = false;
          assertWhole(event);
        }
        deadline.restart();
      }
      isActive = false;
      end.settle();
    } catch (error) {
      if (!signal.aborted) isActive = false;
      end.settle({ error });
      if (!abortion.signal.aborted) throw error;
    } finally {
      deadline.stop();
      cancel();
      end.settle({ error: aborted() });
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
      reply ??= connection.call(source.whole, settings, source.read).then(({ data }) => data);
      return reply;
    },
    async abort() {
      abortion.abort(aborted());
      await cancellation;
    },
  };
  return stream;
}

function aborted(): DOMException {
  return new DOMException('The stream was aborted before its end.', 'AbortError');
}

/** @throws RunError if the run failed or was cancelled. */
export function assertWhole({ status, error, runId }: Omit<RunDone, 'seq'>): void {
  if (status === undefined) return;
  throw failure({ code: 'cancelled', message: 'The run was cancelled.', ...error, runId });
}

/** The longest time to find and cancel a run that nobody waits for. */
const CANCEL_LIMIT_MS = 30_000;

/** Cancels a run in the background. A run that cannot be cancelled ends by itself. */
export async function cancelRun<Reply>(
  connection: Connection,
  source: RunSource<Reply>,
  given: Settings,
  known?: string,
): Promise<void> {
  const settings = { ...given, timeout: CANCEL_LIMIT_MS, signals: [] };
  try {
    const runId = known ?? (await findRun(connection, source, settings));
    if (runId !== undefined) await connection.call(source.cancel(runId), settings, () => {});
  } catch {
    // The caller has its own error already.
  }
}

/** Joins the stream of the run to learn its ID. A message that waits for its turn has no run, and leaves the queue. */
async function findRun<Reply>(
  connection: Connection,
  source: RunSource<Reply>,
  settings: Settings,
): Promise<string | undefined> {
  const deadline = startDeadline(settings.timeout, (ms) => new TimeoutError(ms), []);
  const abortion = new AbortController();
  const { signal } = startDeadline(Number.POSITIVE_INFINITY, () => undefined, [
    deadline.signal,
    abortion.signal,
  ]);
  try {
    const opened = await connection.open(source.start, settings, signal);
    if (!opened || opened.runId !== undefined) return opened?.runId;
    for await (const event of source.decode(opened)) {
      if (event.type === 'run_started' || event.type === 'done') return event.runId;
      return undefined;
    }
  } finally {
    abortion.abort();
    deadline.stop();
  }
}
