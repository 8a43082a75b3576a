import { ConnectionError } from './errors.ts';
import type { ServerSentEvent } from './event-stream.ts';
import { header } from './failure.ts';
import type { GraphQLFault } from './response.ts';
import type { StreamEvent } from './run-source.ts';

/** A result of a GraphQL operation. */
export type Result<Data> = { data?: Data | null; errors?: GraphQLFault[] };

/**
 * Reads the results of a GraphQL operation until it is complete.
 * Source: the protocol "GraphQL over Server-Sent Events", distinct connections mode.
 *
 * @throws ConnectionError if the response ends before.
 */
export async function* readResults<Data>(
  events: AsyncIterable<ServerSentEvent>,
): AsyncGenerator<Result<Data>, void> {
  for await (const { event, data = '' } of events) {
    if (event === 'complete') return;
    if (event === 'next') yield JSON.parse(data);
  }
  throw new ConnectionError('The connection ended.');
}

/** An event of a run as the schema has it, with the selected fields. */
export type SchemaEvent = { __typename: string; code?: string; message?: string };

const TYPES: Record<string, Pick<StreamEvent, 'type'> & { status?: string }> = {
  RunStarted: { type: 'run_started' },
  TextDelta: { type: 'text' },
  ToolStarted: { type: 'tool_started' },
  ToolFinished: { type: 'tool_finished' },
  ChatDone: { type: 'done' },
  ChatFailed: { type: 'done', status: 'failed' },
  ChatCancelled: { type: 'done', status: 'cancelled' },
};

/** Renames an event of the schema. @returns `undefined` for a type that this version does not know. */
export function eventOf(
  { __typename, code, message = '', ...facts }: SchemaEvent,
  response: Response,
): StreamEvent | undefined {
  const type = TYPES[__typename];
  if (!type) return undefined;
  const requestId = header(response, 'x-request-id');
  const error = code && { error: { code: code.toLowerCase(), message, requestId } };
  return { ...facts, ...type, ...error } as StreamEvent;
}
