import type { z } from 'zod';
import { GatewayError, readErrorCode } from '../../errors/errors.ts';

/** What every stream knows of an event of a run. */
export type StreamedEvent =
  | { type: 'ChatFailed'; latencyMs: number; code: string; message: string }
  | { type: 'RunStarted' | 'TextDelta' | 'ToolStarted' | 'ToolFinished' }
  | { type: 'ChatDone' | 'ChatCancelled' };

/** The request that a stream answers. */
export type StreamOrigin = {
  requestId: string;
  /** The run in the path, if there is one. */
  runId: string | undefined;
  /** The number of the last event that the client received before it reconnected. */
  lastEventId: number | undefined;
  /** What `toVariables` of the route kept of the request. */
  asked: unknown;
};

/** Writes the events of one stream as Server-Sent Events. */
export type StreamEncoder<Event> = {
  /** @returns the text to send for an event, empty for none; or the error that ends the stream. */
  encode(event: Event): string | GatewayError;
  /**
   * @param event the terminal event, if the error is the failure of the run.
   * @returns the text that reports an error and ends the stream.
   */
  fail(error: GatewayError, latencyMs: number, event?: Event): string;
};

/** The form in which an interface streams a run. */
export type StreamForm<Event> = {
  /** The form in the OpenAPI document: a reply, the numbered events of a run, or a stream of OpenAI's API. */
  name: 'reply' | 'events' | 'completion' | 'response';
  /** The schema of the data of a frame. Its id is its name in the OpenAPI document. */
  frame: z.ZodType;
  /**
   * Whether the stream reads a run instead of starting it: the failure of the run is then not an error of the request, and
   * the response begins at once.
   */
  isReading?: boolean;
  createEncoder(origin: StreamOrigin): StreamEncoder<Event>;
};

/** The error of a failed run. */
export function failureOf({ code, message }: { code: string; message: string }): GatewayError {
  return new GatewayError(readErrorCode(code), message);
}

/** Whether no event follows. */
export function isTerminal({ type }: { type: string }): boolean {
  return type === 'ChatDone' || type === 'ChatFailed' || type === 'ChatCancelled';
}
