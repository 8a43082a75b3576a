import { z } from 'zod';
import { isJsonObject } from '../../text/json.ts';
import { MAX_ID_LENGTH } from './open-operations.ts';
import { MAX_UNACKNOWLEDGED_BYTES } from './websocket-arrival.ts';

/** A valid message of a client. */
export type ClientMessage = {
  text: string;
  /** The id of the operation that it completes. */
  completes: string | undefined;
};

/** Characters of a message other than `subscribe`. */
const MAX_SMALL_MESSAGE = MAX_UNACKNOWLEDGED_BYTES;

/** Messages that only servers send. The library would treat them as internal errors. Source: the graphql-ws protocol. */
const FROM_SERVERS: unknown[] = ['connection_ack', 'next', 'error'];

/** Source: the graphql-ws protocol, "Complete". */
const completeMessage = z.object({ type: z.literal('complete'), id: z.string() });

/**
 * Validates a message before the library does. The library rejects a `subscribe` without `query`, so one with only a
 * `documentId` gets an empty `query`.
 *
 * @returns `undefined` for an invalid message.
 */
export function readMessage(text: string, isAcknowledged: boolean): ClientMessage | undefined {
  const isSmall = text.length <= MAX_SMALL_MESSAGE;
  if (!isSmall && !isAcknowledged) return undefined;
  const message = parse(text);
  if (!isJsonObject(message)) return undefined;
  if (FROM_SERVERS.includes(message.type)) return undefined;
  const completes = completeMessage.safeParse(message).data?.id;
  if (message.type !== 'subscribe') return isSmall ? { text, completes } : undefined;
  const { id, payload } = message;
  if (String(id).length > MAX_ID_LENGTH) return undefined;
  if (!isJsonObject(payload) || payload.query !== undefined || payload.documentId == null) {
    return { text, completes };
  }
  return { text: JSON.stringify({ ...message, payload: { ...payload, query: '' } }), completes };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
