import type { Request } from './connection.ts';
import type { EventSource } from './event-stream.ts';
import type { RunEvent } from './runs.ts';

type WithoutNumber<Event> = Event extends RunEvent ? Omit<Event, 'seq'> & { seq?: number } : never;

/** An event of a run. Events of a reply have no numbers over REST. */
export type StreamEvent = WithoutNumber<RunEvent>;

/** The requests of a run that an idempotency key identifies, by REST or by GraphQL. */
export type RunSource<Reply> = {
  /** Starts the run, or repeats its reply. */
  whole: Request;
  read(body: unknown, response: Response): Reply;
  /** Starts the run and streams its reply, or joins its stream from the first event. */
  start: Request;
  /** Joins the stream of a run that has begun, and never begins one. */
  join: Request;
  /** Reads the events after a number, or all. */
  follow(runId: string, after: number | undefined): Request;
  cancel(runId: string): Request;
  decode(source: EventSource): AsyncGenerator<StreamEvent>;
};

/** A new idempotency key of 128 random bits. `crypto.randomUUID` is missing on pages without HTTPS. */
export function newIdempotencyKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
