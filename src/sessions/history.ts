import { z } from 'zod';
import { type Environment, type Message, Prisma } from '../generated/prisma/client.ts';
import { createBatch } from '../storage/batch.ts';
import type { Database } from '../storage/database.ts';
import { MAX_INT } from '../storage/int.ts';
import type { ListDefinition } from '../storage/lists.ts';
import { statement } from '../storage/sql.ts';
import { MAX_FACTS } from '../text/input.ts';
import type { Facts } from './memory.ts';

/** A stored message of a conversation. */
export type HistoryMessage =
  | { role: 'USER'; text: string }
  /** A notice of the server, which begins a turn in place of a user's message. */
  | { role: 'SYSTEM'; text: string }
  | { role: 'ASSISTANT'; text: string; toolCalls: ToolCall[] }
  | { role: 'TOOL'; text: string; toolCallId: string };

/** A tool call. The name is `<group>.<capability>`. */
export type ToolCall = {
  id: string;
  name: string;
  /** The text of a JSON object. Calls that earlier versions stored may hold any text. */
  arguments: string;
  /** Members that the model server wants back with the call, as the text of a JSON object. */
  extra?: string | undefined;
};

const toolCalls = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    arguments: z.string(),
    extra: z.string().optional(),
  }),
);

const requestHistory = z.array(
  z.discriminatedUnion('role', [
    z.object({ role: z.literal('USER'), text: z.string() }),
    z.object({ role: z.literal('ASSISTANT'), text: z.string(), toolCalls }),
    z.object({ role: z.literal('TOOL'), text: z.string(), toolCallId: z.string() }),
  ]),
);

/** Reads the messages that a stored run's request sent before its own; `undefined` if it sent none. */
export function readRequestHistory(stored: unknown): HistoryMessage[] | undefined {
  return stored === null ? undefined : requestHistory.parse(stored);
}

/** Identifies a conversation. A session id is unique only within its bot and environment. */
export type SessionRef = { botId: string; environment: Environment; sessionId: string };

/** A session that may not exist yet: then `key` becomes its primary key. */
export type NewSession = SessionRef & { key: string };

/**
 * The session of a turn. The turn is stored only if `turns`, the number of stored turns, and the lease are unchanged.
 */
export type SessionState = { key: string; turns: number; leaseId: string };

/** The end of a turn: releases it and appends the messages, if any. */
export type TurnEnd = { session: SessionState; messages: HistoryMessage[] | undefined };

/** The history and memory that a turn starts with. */
export type Recollection = {
  /** Oldest first. Starts at the beginning of a turn, so a turn that the limit cuts is left out. */
  messages: HistoryMessage[];
  facts: Facts;
};

/** Reads stored conversations. */
export type History = {
  /** Reads the last `limit` messages of the current conversation, up to 4 MiB, and the user's facts, in one query. */
  recall(session: SessionState, limit: number): Promise<Recollection>;
};

const MAX_RECALLED_BYTES = 4 * 1024 * 1024;

/**
 * Builds the SQL columns `messages` and `facts` of a session.
 *
 * @param key an SQL expression for the session's key.
 * @param limit an SQL expression for the number of messages.
 */
export const recalled = (key: string, limit: string) => `
  (SELECT json_agg(message ORDER BY turn, position) FROM (
    SELECT turn, position, role, text, "toolCalls", "toolCallId" FROM (
      SELECT *, sum(octet_length(text) + COALESCE(octet_length("toolCalls"::text), 0))
        OVER (ORDER BY turn DESC, position DESC) AS bytes
      FROM (
        SELECT turn, position, role, text, tool_calls AS "toolCalls", tool_call_id AS "toolCallId"
        FROM messages
        WHERE session_key = ${key} AND turn > (SELECT history_from FROM sessions WHERE sessions.id = ${key})
        ORDER BY turn DESC, position DESC LIMIT ${limit}
      ) AS latest
    ) AS measured
    WHERE bytes <= ${MAX_RECALLED_BYTES}
  ) AS message) AS messages,
  (SELECT json_object_agg(name, value ORDER BY name) FROM (
    SELECT name, value FROM memory_entries WHERE session_key = ${key} ORDER BY name LIMIT ${MAX_FACTS}
  ) AS fact) AS facts`;

const RECALL = statement(
  `SELECT key, ${recalled('key', '"limit"')} FROM json_to_recordset($1) AS requested (key text, "limit" int)`,
);

type StoredMessage = Pick<Message, 'role' | 'text' | 'toolCalls' | 'toolCallId'>;

/** A row of the columns of `recalled`. */
export type RecalledRow = { messages: StoredMessage[] | null; facts: Facts | null };

export function createHistory({ sql }: Pick<Database, 'sql'>): History {
  const recallAll = createBatch<{ limit: number }, RecalledRow>(sql, RECALL);
  return {
    async recall({ key }, limit) {
      const [found] = await recallAll(key, { limit });
      return readRecalled(found ?? { messages: null, facts: null });
    },
  };
}

export function readRecalled({ messages, facts }: RecalledRow): Recollection {
  return { messages: fromAUserOn((messages ?? []).map(readMessage)), facts: facts ?? {} };
}

/** Messages per session, by turn and by position in the turn. */
export const MESSAGES: ListDefinition = {
  direction: 'asc',
  isPlace: ([turn, position]) => turn <= MAX_INT && /^\d{1,9}$/.test(position),
  table: Prisma.sql`messages`,
  owner: Prisma.sql`session_key`,
  columns: [Prisma.sql`turn`, Prisma.sql`position`],
  number: Prisma.sql`turn::float8`,
  valuesAt: ([turn, position]) => Prisma.sql`${turn}::int, ${Number(position)}::int`,
};

function readMessage({
  role,
  text,
  toolCalls: calls,
  toolCallId,
}: Pick<Message, 'role' | 'text' | 'toolCalls' | 'toolCallId'>): HistoryMessage {
  switch (role) {
    case 'USER':
    case 'SYSTEM':
      return { role, text };
    case 'ASSISTANT':
      return { role, text, toolCalls: toolCalls.parse(calls ?? []) };
    case 'TOOL':
      return { role, text, toolCallId: toolCallId ?? '' };
  }
}

/** The latest messages that fit in `maxBytes`, starting at the beginning of a turn. */
export function latestThatFit(messages: HistoryMessage[], maxBytes: number): HistoryMessage[] {
  let left = maxBytes;
  const last = messages.findLastIndex((message) => {
    left -= byteLengthOf(message);
    return left < 0;
  });
  return last < 0 ? messages : fromAUserOn(messages.slice(last + 1));
}

function byteLengthOf(message: HistoryMessage): number {
  const calls = message.role === 'ASSISTANT' ? message.toolCalls : [];
  return calls.reduce(
    (sum, { name, arguments: text, extra = '' }) =>
      sum + Buffer.byteLength(text) + Buffer.byteLength(name) + Buffer.byteLength(extra),
    Buffer.byteLength(message.text),
  );
}

/** Drops messages before the first that begins a turn: a model rejects a tool result without its call. */
function fromAUserOn(messages: HistoryMessage[]): HistoryMessage[] {
  const first = messages.findIndex(({ role }) => role === 'USER' || role === 'SYSTEM');
  return first < 0 ? [] : messages.slice(first);
}
