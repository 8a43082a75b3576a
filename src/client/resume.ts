import type { Deadline } from './deadline.ts';
import { ConnectionError } from './errors.ts';
import { failure, isRunFailure } from './failure.ts';
import { isRetryable, waitToRetry } from './retry.ts';
import type { StreamEvent } from './run-source.ts';

/**
 * Reads the events of a run across lost connections. Each event arrives once; text that a repeated stream contains again
 * is dropped.
 *
 * @param open sends one request for the events after a number; for all events if there is none. Returns `undefined` if
 *   the run has no more events.
 * @param maxRetries how often to reconnect without a new event.
 * @throws ParleyError if the last attempt fails, or the reason of the deadline's signal.
 */
export async function* resume(
  open: (after: number | undefined) => Promise<AsyncIterable<StreamEvent> | undefined>,
  {
    after,
    maxRetries,
    deadline,
  }: { after?: number | undefined; maxRetries: number; deadline: Deadline },
): AsyncGenerator<StreamEvent> {
  /** Characters of text that were yielded. */
  let yielded = 0;
  /** Characters of text up to the last event that was read. */
  let position = 0;
  let failures = 0;
  for (;;) {
    try {
      if (after === undefined) position = 0;
      const events = await open(after);
      if (!events) return;
      for await (const event of events) {
        assertEndOfRun(event);
        after = event.seq ?? after;
        if (event.seq !== undefined) failures = 0;
        if (event.type !== 'text') {
          yield event;
          if (event.type === 'done') return;
          continue;
        }
        position += event.delta.length;
        const fresh = position - yielded;
        if (fresh <= 0) continue;
        yielded = position;
        failures = 0;
        yield { ...event, delta: event.delta.slice(-fresh) };
      }
      throw new ConnectionError('The connection ended.');
    } catch (error) {
      deadline.signal.throwIfAborted();
      if (failures >= maxRetries || !isRetryable(error)) throw error;
      await waitToRetry(error, failures, deadline);
      failures += 1;
    }
  }
}

/**
 * A failed read ends like a failed run, but its last event has no number. Over REST, the events of a reply have no numbers
 * either; then only the codes of runs are the run's own, and the numbered events tell the rest.
 */
function assertEndOfRun(event: StreamEvent): void {
  if (event.type !== 'done' || event.seq !== undefined || !event.error) return;
  if (!isRunFailure(event.error.code)) throw failure(event.error);
}
