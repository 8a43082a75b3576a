import { readStream } from '../../client/stream-reader.ts';
import type { ChatEvent } from './chat-event.ts';
import { ChatProblem, chatProblem } from './chat-problem.ts';
import { type Reading, recover } from './event-request.ts';
import { isSessionEnd } from './problem.ts';

/** Where the reading of a run is. `seq` is the number of the last event, or 0. */
export type Position = { runId: string; seq: number };

/**
 * Reads the events of a run until the last one. After a lost connection, resumes after the last event received once the
 * server responds: the run continues without its reader. After an expired token, resumes with another one.
 *
 * @param open sends one request for the events after a position; without one, the first request.
 * @throws ChatProblem
 */
export async function* readRun(
  { signal, access }: Reading,
  open: (position?: Position) => Promise<AsyncIterable<ChatEvent> | undefined>,
): AsyncGenerator<ChatEvent, void> {
  let runId: string | undefined;
  let isOver = false;
  /** Whether there was no event since another token was got. */
  let isRenewed = false;
  const source = {
    signal,
    open: async (seq = 0) =>
      isOver ? undefined : open(runId === undefined ? undefined : { runId, seq }),
    async recover(error: unknown) {
      if (isOver) return;
      if (access && !isRenewed && isRefusedToken(error)) {
        isRenewed = true;
        access.renew();
      } else if (runId === undefined) throw chatProblem(error);
      else await recover(error, signal);
    },
  };
  try {
    for await (const event of readStream<ChatEvent>(source)) {
      if (event.type === 'run_started') ({ runId } = event);
      isOver = event.type === 'done';
      isRenewed = false;
      yield event;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function isRefusedToken(error: unknown): boolean {
  return error instanceof ChatProblem && isSessionEnd(error.problem);
}
