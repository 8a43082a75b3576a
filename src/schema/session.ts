import { queryFromInfo } from '@pothos/plugin-prisma';
import { z } from 'zod';
import { authorizeScope, isOwnSession } from '../accounts/caller.ts';
import { visibleBots } from '../bots/bots.ts';
import { invalidInput } from '../errors.ts';
import { type Environment, MessageRole, Prisma, type Session } from '../generated/prisma/client.ts';
import { sessionId } from '../input.ts';
import { MESSAGES } from '../sessions/history.ts';
import { findSessions, SESSIONS } from '../sessions/list.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { readLists } from '../storage/lists.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';
import type { Context } from './context.ts';
import { longColumns, readWithin } from './long-columns.ts';
import { budgetOf } from './read-budget.ts';
import { EnvironmentEnum } from './shared.ts';
import { visibleNode } from './visible-node.ts';

const MESSAGE_TEXTS = longColumns(Prisma.sql`messages`, { text: 'text' });

/** Loads the name of the tool call that each message answers, from the message of the model that made the call. */
const loadToolName = batchLoader(async (ids, _question: null, { prisma }) => {
  const rows = await prisma.$queryRaw<{ id: string; name: string }[]>`
    SELECT DISTINCT ON (answer.id) answer.id, call->>'name' AS name
    FROM messages AS answer
      JOIN messages AS caller ON caller.session_key = answer.session_key AND caller.turn = answer.turn
        AND caller.position < answer.position AND caller.role = 'ASSISTANT'
      CROSS JOIN LATERAL jsonb_array_elements(caller.tool_calls) AS call
    WHERE answer.id = ANY(${ids}) AND call->>'id' = answer.tool_call_id
    ORDER BY answer.id, caller.position DESC`;
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? null;
});

const MessageRoleEnum = builder.enumType('MessageRole', {
  description: 'Author of a message.',
  values: {
    USER: { value: MessageRole.USER, description: 'The end user.' },
    ASSISTANT: { value: MessageRole.ASSISTANT, description: 'The bot.' },
    TOOL: { value: MessageRole.TOOL, description: 'A tool that the bot called.' },
  },
});

const MessageObject = builder.prismaObject('Message', {
  description: 'A message of a conversation.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique identifier. Opaque; it never changes.' }),
    role: t.expose('role', { type: MessageRoleEnum, description: 'Author of the message.' }),
    text: t.string({
      description: 'Text of the message.',
      select: { id: true },
      resolve: async (message, _args, context, info) =>
        z.string().parse(await MESSAGE_TEXTS.read(message, 'text', context, info)),
    }),
    toolName: t.string({
      nullable: true,
      description:
        'Name of the tool whose result the message is, as `<group>.<capability>`. Null unless the role is TOOL.',
      select: { id: true, role: true },
      resolve: ({ id, role }, _args, context, info) =>
        role === 'TOOL' ? loadToolName(id, null, context, info) : null,
    }),
    run: t.relation('run', { description: 'The run that the message belongs to.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
  }),
});

type Fact = { sessionKey: string; name: string; value: string; updatedAt: Date };

const MemoryEntryObject = builder.objectRef<Fact>('MemoryEntry').implement({
  description: 'A fact that a bot remembers about the user of a session.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the fact.' }),
    value: t.exposeString('value', { description: 'Value of the fact.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

/** Loads the facts of a session, sorted by name. */
const loadMemory = batchLoader(async (keys, _question: null, context, { timesOf, info }) => {
  const times = keys.map(timesOf);
  const rows = Prisma.sql`
    SELECT session_key AS "sessionKey", name, value, updated_at AS "updatedAt",
      (octet_length(name) + octet_length(value))::float8 * times AS bytes
    FROM memory_entries JOIN unnest(${keys}::text[], ${times}::int[]) AS session(key, times)
      ON session_key = session.key`;
  const budget = budgetOf(info);
  const facts = await budget.inTurn(() => readWithin<Fact>(context, budget, rows));
  const bySession = Map.groupBy(facts.toSorted(byName), ({ sessionKey }) => sessionKey);
  return (key) => bySession.get(key) ?? [];
});

function byName(one: Fact, other: Fact): number {
  return one.name < other.name ? -1 : 1;
}

/** Session tokens see no tool messages: tool output is for the model only. */
const SHOWN_TO_PAGES = [Prisma.sql`role <> 'TOOL'`];

const loadMessages = connectionLoader({
  type: 'Message',
  order: MESSAGES,
  select: { id: true },
  texts: MESSAGE_TEXTS,
  find: ({ prisma, session }, sessionKeys, page) =>
    readLists(prisma, MESSAGES, sessionKeys, page, session() && SHOWN_TO_PAGES),
  read: ({ prisma }, query) => prisma.message.findMany(query),
});

type SessionListArguments = PageArguments & { environment?: Environment | null | undefined };

const loadSessions = connectionLoader({
  type: 'Session',
  order: SESSIONS,
  find: ({ prisma }, botIds, page, { environment }: SessionListArguments) =>
    findSessions(prisma, botIds, environment, page),
  read: ({ prisma }, query) => prisma.session.findMany(query),
});

type Question = { sessionId: string; environment: Environment; query: object };

/** Loads the session of a bot with a session id. */
const loadSession = batchLoader(
  async (botIds, { sessionId, environment, query }: Question, { prisma }) => {
    const where = { botId: { in: botIds }, sessionId, environment };
    const sessions = await prisma.session.findMany({ ...query, where });
    const byId = new Map(sessions.map((session) => [session.botId, session]));
    return (id) => byId.get(id) ?? null;
  },
);

const visibleSession = visibleNode((ids, { prisma, caller }) =>
  prisma.session.findMany({
    where: { id: { in: ids }, bot: visibleBots(caller()) },
    select: { id: true },
  }),
);

type SessionArguments = {
  id?: string | null | undefined;
  environment?: Environment | null | undefined;
};

/** The session that the arguments name, by default the session of a token. @throws GatewayError `invalid_request` */
function namedIn({ id, environment }: SessionArguments, context: Context) {
  const own = context.session();
  const sessionId = id ?? own?.sessionId;
  if (sessionId === undefined) throw invalidInput([{ path: 'id', message: 'is required' }]);
  return { sessionId, environment: environment ?? own?.environment ?? 'PRODUCTION' };
}

type SessionName = Pick<Session, 'botId' | 'sessionId' | 'environment'>;

/** A session token lacks the scope RUNS, but may read the messages of its own session. */
const mayReadMessages = (session: SessionName, context: Context) =>
  isOwnSession(context.session(), session) || { scope: 'RUNS' as const };

export const SessionNode = builder.prismaNode('Session', {
  description: 'The conversation of an end user with a bot in one environment.',
  id: { resolve: ({ id }) => id, description: 'Unique identifier. Opaque; it never changes.' },
  nullable: true,
  findUnique: (id, context) => {
    authorizeScope(context.caller(), 'RUNS');
    return visibleSession(id, context);
  },
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', {
      description: 'Session ID, as the caller named the conversation.',
    }),
    environment: t.expose('environment', {
      type: EnvironmentEnum,
      description: 'Environment of the conversation.',
    }),
    messages: t.connection(
      {
        type: MessageObject,
        description:
          'Messages, oldest first. Requires the scope RUNS or a session token of this session; a session token sees no tool messages.',
        authScopes: (session, _args, context) => mayReadMessages(session, context),
        resolve: ({ id }, args, context, info) => loadMessages(id, args, context, info),
      },
      { name: 'MessageConnection' },
      { name: 'MessageEdge' },
    ),
    memory: t.field({
      type: [MemoryEntryObject],
      description:
        'Facts that the bot remembers about the user, sorted by name. Requires the scope RUNS.',
      authScopes: { scope: 'RUNS' },
      resolve: ({ id }, _args, context, info) => loadMemory(id, null, context, info),
    }),
    turns: t.exposeInt('turns', {
      description: 'Number of stored turns: messages from the user with their replies.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    lastSeenAt: t.expose('lastSeenAt', {
      type: 'DateTime',
      description: 'Time of the last message from the user, or of a later change by `setMemory`.',
    }),
  }),
});

builder.prismaObjectFields('Bot', (t) => ({
  sessions: t.connection(
    {
      type: SessionNode,
      description:
        'Conversations with the bot, the last used one first, without those with drafts. A conversation that is used while a client pages moves to the first page. Requires the scope RUNS.',
      authScopes: { scope: 'RUNS' },
      args: {
        environment: t.arg({
          type: EnvironmentEnum,
          description: 'Only conversations in this environment.',
        }),
      },
      resolve: ({ id }, args, context, info) => loadSessions(id, args, context, info),
    },
    { name: 'SessionConnection' },
    { name: 'SessionEdge' },
  ),
  session: t.field({
    type: SessionNode,
    nullable: true,
    description:
      'Retrieves a conversation by its session ID. Requires the scope RUNS or a session token of this session.',
    authScopes: ({ id: botId }, args, context) =>
      mayReadMessages({ botId, ...namedIn(args, context) }, context),
    args: {
      id: t.arg.string({
        description:
          'Session ID, as the caller named the conversation. Required, except with a session token: then its session.',
        validate: { schema: sessionId },
      }),
      environment: t.arg({
        type: EnvironmentEnum,
        description:
          'Environment of the bot. Defaults to PRODUCTION, with a session token to its environment.',
      }),
    },
    resolve: ({ id: botId }, args, context, info) => {
      const question = { ...namedIn(args, context), query: queryFromInfo({ context, info }) };
      return loadSession(botId, question, context, info);
    },
  }),
}));
