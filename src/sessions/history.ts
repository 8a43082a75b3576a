import { z } from 'zod';
import { type Environment, type Message, Prisma } from '../generated/prisma/client.ts';
import { MAX_FACTS } from '../input.ts';
import { createBatch } from '../storage/batch.ts';
import type { Database } from '../storage/database.ts';
import { MAX_INT } from '../storage/int.ts';
import type { Lists } from '../storage/lists.ts';
import { statement } from '../storage/sql.ts';
import type { Facts } from './memory.ts';

/** One message of a conversation as it is kept. */
export type HistoryMessage =
  | { role: 'USER'; text: string }
  | { role: 'ASSISTANT'; text: string; toolCalls: ToolCall[] }
  | { role: 'TOOL'; text: string; toolCallId: string };

/** A call of a tool, by the tool's own name `<group>.<capability>`. */
export type ToolCall = { id: string; name: string; arguments: string };

const toolCalls = z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }));

/** What names a conversation: a session id means nothing outside its bot and environment. */
export type SessionRef = { botId: string; environment: Environment; sessionId: string };

/** A session that may be new: then it gets this id of Parley's own. */
export type NewSession = SessionRef & { key: string };

/** The conversation as a turn found it: what the turn is stored on top of, so long as its lease holds. */
export type SessionState = { key: string; turns: number; leaseId: string };

/** How a turn ends: it is given back, with what is added to the conversation, if anything is. */
export type TurnEnd = { session: SessionState; messages: HistoryMessage[] | undefined };

/** What a turn begins with. */
export type Recollection = {
  /** Oldest first, without the part of a turn that the limit cuts. */
  messages: HistoryMessage[];
  facts: Facts;
};

/** The stored conversations. */
export type History = {
  /** The last `limit` messages, 4 MiB at most, and what the bot keeps of the user, in one query. */
  recall(session: SessionState, limit: number): Promise<Recollection>;
};

/** The most bytes of the messages that are recalled: the latest that fit, 4 MiB in all. */
const MAX_RECALLED_BYTES = 4 * 1024 * 1024;

/** What is recalled of a session, for a statement that has a `limit`: by the expression that is the session's key. */
export const recalled = (key: string) => `
  (SELECT json_agg(message ORDER BY turn, position) FROM (
    SELECT turn, position, role, text, "toolCalls", "toolCallId" FROM (
      SELECT *, sum(octet_length(text) + COALESCE(octet_length("toolCalls"::text), 0))
        OVER (ORDER BY turn DESC, position DESC) AS bytes
      FROM (
        SELECT turn, position, role, text, tool_calls AS "toolCalls", tool_call_id AS "toolCallId"
        FROM messages WHERE session_key = ${key} ORDER BY turn DESC, position DESC LIMIT "limit"
      ) AS latest
    ) AS measured
    WHERE bytes <= ${MAX_RECALLED_BYTES}
  ) AS message) AS messages,
  (SELECT json_object_agg(name, value ORDER BY name) FROM (
    SELECT name, value FROM memory_entries WHERE session_key = ${key} ORDER BY name LIMIT ${MAX_FACTS}
  ) AS fact) AS facts`;

const RECALL = statement(
  `SELECT key, ${recalled('key')} FROM json_to_recordset($1) AS asked (key text, "limit" int)`,
);

type StoredMessage = Pick<Message, 'role' | 'text' | 'toolCalls' | 'toolCallId'>;

/** What is recalled, as it is stored. */
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

/** The messages of sessions by turn, and by their place in it. */
export const MESSAGES: Lists = {
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
      return { role, text };
    case 'ASSISTANT':
      return { role, text, toolCalls: toolCalls.parse(calls ?? []) };
    case 'TOOL':
      return { role, text, toolCallId: toolCallId ?? '' };
  }
}

/** The latest messages that fit in so many bytes, from a user's message on. */
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
    (sum, call) => sum + Buffer.byteLength(call.arguments) + Buffer.byteLength(call.name),
    Buffer.byteLength(message.text),
  );
}

/** A model refuses the answer of a tool without its call. */
function fromAUserOn(messages: HistoryMessage[]): HistoryMessage[] {
  const first = messages.findIndex(({ role }) => role === 'USER');
  return first < 0 ? [] : messages.slice(first);
}
