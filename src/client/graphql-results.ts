import { ConnectionError } from './errors.ts';
import type { ServerSentEvent } from './event-stream.ts';
import type { GraphQLFault } from './response.ts';

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
