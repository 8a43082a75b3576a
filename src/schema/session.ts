import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import { authorizeScope, isOwnSession } from '../accounts/caller.ts';
import { visibleBots } from '../bots/visible-bots.ts';
import { invalidInput } from '../errors/errors.ts';
import type { Environment, Session } from '../generated/prisma/client.ts';
import { findSessions, SESSIONS } from '../sessions/list.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { sessionId } from '../text/input.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';
import type { Context } from './context.ts';
import { FactObject, factsOf } from './fact.ts';
import { loadMessages, MessageObject } from './message.ts';
import { EnvironmentEnum } from './shared.ts';
import { visibleNode } from './visible-node.ts';

type SessionListArguments = PageArguments & { environment?: Environment | null | undefined };

const loadSessions = connectionLoader({
  type: 'Session',
  order: SESSIONS,
  find: ({ prisma }, botIds, page, { environment }: SessionListArguments) =>
    findSessions(prisma, botIds, environment, page),
  read: ({ prisma }, query) => prisma.session.findMany(query),
});

type SessionName = Pick<Session, 'botId' | 'sessionId' | 'environment'>;

const keyOf = ({ botId, sessionId, environment }: SessionName) =>
  JSON.stringify([botId, environment, sessionId]);

const loadByKey = batchLoader(async (keys, query: object, { prisma }) => {
  const names: [string, Environment, string][] = keys.map((key) => JSON.parse(key));
  const ofBots = Map.groupBy(names, ([botId, environment]) => JSON.stringify([botId, environment]));
  const OR = [...ofBots.values()].flatMap((group) =>
    group.slice(0, 1).map(([botId, environment]) => ({
      botId,
      environment,
      sessionId: { in: group.map(([, , sessionId]) => sessionId) },
    })),
  );
  const sessions = await prisma.session.findMany({ ...query, where: { OR } });
  const byKey = new Map(sessions.map((session) => [keyOf(session), session]));
  return (key) => byKey.get(key) ?? null;
});

/** Loads a session by its name. */
export const loadSession = (name: SessionName, context: Context, info: GraphQLResolveInfo) =>
  loadByKey(keyOf(name), queryFromInfo({ context, info }), context, info);

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
  return { sessionId, environment: environment ?? own?.environment ?? DEFAULT_ENVIRONMENT };
}

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
          'Messages, oldest first. Requires the scope RUNS or a session token of this session; a session token sees no messages of tools and of the server.',
        authScopes: (session, _args, context) => mayReadMessages(session, context),
        resolve: ({ id }, args, context, info) => loadMessages(id, args, context, info),
      },
      { name: 'MessageConnection' },
      { name: 'MessageEdge' },
    ),
    memory: t.field({
      type: [FactObject],
      description:
        'Facts that the bot remembers about the user, sorted by name. Requires the scope RUNS.',
      authScopes: { scope: 'RUNS' },
      resolve: ({ id }, _args, context, info) => factsOf(id, context, info),
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
        'Conversations with the bot, last used first, without draft sessions. A conversation that is used while a client pages moves to the first page. Requires the scope RUNS.',
      authScopes: { scope: 'RUNS' },
      args: {
        environment: t.arg({
          type: EnvironmentEnum,
          description: 'Returns only conversations in this environment.',
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
          'Session ID, as the caller named the conversation. Required with an API key. Defaults to the session of a session token.',
        validate: { schema: sessionId },
      }),
      environment: t.arg({
        type: EnvironmentEnum,
        description:
          'Environment of the bot. Defaults to the environment of the session token, or to PRODUCTION with an API key.',
      }),
    },
    resolve: ({ id: botId }, args, context, info) =>
      loadSession({ botId, ...namedIn(args, context) }, context, info),
  }),
}));
