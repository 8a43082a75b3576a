import { ConnectionError } from './errors.ts';

/** A stream of events that several requests read, one after another. */
export type StreamSource<Event> = {
  /** Ends the stream with its reason. */
  signal: AbortSignal;
  /**
   * Sends one request for the events after a number; for all events if no event had a number.
   *
   * @returns `undefined` if the stream has no more events.
   */
  open(after: number | undefined): Promise<AsyncIterable<Event> | undefined>;
  /**
   * Waits until the next request may succeed.
   *
   * @param failures failed requests since the last event, beginning with 0.
   * @throws the error to give up.
   */
  recover(error: unknown, failures: number): Promise<void>;
};

/**
 * Reads a stream until its caller leaves it. If a request fails or its connection ends, another request continues after
 * the number of the last event.
 *
 * @throws the reason of the signal, or what `recover` throws.
 */
export async function* readStream<Event extends object>(
  { signal, open, recover }: StreamSource<Event>,
  after?: number,
): AsyncGenerator<Event, void> {
  for (let failures = 0; ; failures += 1) {
    try {
      const events = await open(after);
      if (!events) return;
      for await (const event of events) {
        signal.throwIfAborted();
        if ('seq' in event) after = Number(event.seq);
        failures = 0;
        yield event;
      }
      throw new ConnectionError('The connection ended.');
    } catch (error) {
      signal.throwIfAborted();
      await recover(error, failures);
    }
  }
}
