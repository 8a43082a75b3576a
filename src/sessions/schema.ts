import { authorizeScope } from '../accounts/caller.ts';
import { visibleBots } from '../bots/bots.ts';
import { factName, factValue, sessionId } from '../input.ts';
import { builder } from '../schema/builder.ts';
import { nodesQuery } from '../schema/nodes.ts';
import { EnvironmentEnum } from '../schema/shared.ts';
import { byCreation, NEWEST_FIRST, readPage } from '../storage/keyset.ts';
import { AS_SAID, byTurn } from './history.ts';

const MessageObject = builder.prismaObject('Message', {
  description: 'One message of a conversation. A turn is stored whole, or not at all.',
  fields: (t) => ({
    id: t.exposeID('id'),
    role: t.string({
      description: 'user, assistant or tool.',
      select: { role: true },
      resolve: ({ role }) => role.toLowerCase(),
    }),
    text: t.exposeString('text'),
    run: t.relation('run', { description: 'The run that it was said in.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

const MemoryEntryObject = builder.prismaObject('MemoryEntry', {
  description: 'A fact that a bot keeps of the user of a session.',
  fields: (t) => ({
    name: t.exposeString('name'),
    value: t.exposeString('value'),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
});

const SessionNode = builder.prismaNode('Session', {
  description: 'The conversation of one end user with one bot in one environment. Scope RUNS.',
  id: { resolve: ({ id }) => id },
  nullable: true,
  findUnique: (id, { caller }) => {
    authorizeScope(caller(), 'RUNS');
    return { id, bot: visibleBots(caller()) };
  },
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: "The caller's own name for it." }),
    environment: t.expose('environment', { type: EnvironmentEnum }),
    messages: t.connection(
      {
        type: MessageObject,
        description: 'What was said, the oldest first.',
        resolve: ({ id: sessionKey }, args, context, info) => {
          const query = nodesQuery('Message', context, info);
          return readPage(args, AS_SAID, (page) =>
            context.prisma.message.findMany({ ...query, ...byTurn({ sessionKey }, page) }),
          );
        },
      },
      { name: 'MessageConnection' },
      { name: 'MessageEdge' },
    ),
    memory: t.relation('memory', {
      type: MemoryEntryObject,
      description: 'What the bot keeps of the user, by name.',
      query: { orderBy: { name: 'asc' } },
    }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime' }),
  }),
});

builder.prismaObjectFields('Bot', (t) => ({
  sessions: t.connection(
    {
      type: SessionNode,
      description: 'The conversations with it, the newest first. Scope RUNS.',
      authScopes: { scope: 'RUNS' },
      resolve: ({ id: botId }, args, context, info) => {
        const query = nodesQuery('Session', context, info);
        return readPage(args, NEWEST_FIRST, (page) =>
          context.prisma.session.findMany({ ...query, ...byCreation({ botId }, page) }),
        );
      },
    },
    { name: 'SessionConnection' },
    { name: 'SessionEdge' },
  ),
  session: t.field({
    type: SessionNode,
    nullable: true,
    description: 'One conversation, by the name that the caller gave it. Scope RUNS.',
    authScopes: { scope: 'RUNS' },
    args: {
      id: t.arg.string({ required: true, validate: { schema: sessionId } }),
      environment: t.arg({ type: EnvironmentEnum, defaultValue: 'PRODUCTION' }),
    },
    select: ({ id, environment }, _context, nested) => ({
      sessions: {
        where: { sessionId: id, environment: environment ?? 'PRODUCTION' },
        ...nested(true),
      },
    }),
    resolve: ({ sessions }) => sessions[0] ?? null,
  }),
}));

const sessionArguments = builder.args((t) => ({
  botId: t.id({ required: true }),
  sessionId: t.string({ required: true, validate: { schema: sessionId } }),
  environment: t.field({ type: EnvironmentEnum, defaultValue: 'PRODUCTION' }),
}));

builder.mutationField('setMemory', (t) =>
  t.field({
    type: SessionNode,
    description: 'Keeps a fact of a session’s user; a value of null forgets it. Scope CHAT.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: {
      ...sessionArguments,
      name: t.arg.string({ required: true, validate: { schema: factName } }),
      value: t.arg.string({ validate: { schema: factValue } }),
    },
    resolve: (_root, { botId, sessionId, environment, name, value }, { sessions }) =>
      sessions.setMemory(
        { botId, sessionId, environment: environment ?? 'PRODUCTION' },
        name,
        value ?? null,
      ),
  }),
);

builder.mutationField('forgetSession', (t) =>
  t.boolean({
    description:
      'Forgets a conversation: its history, its memory, and the text of its runs. True where there was any. Scope CHAT. Error: SESSION_BUSY.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: sessionArguments,
    resolve: (_root, { botId, sessionId, environment }, { sessions, signal }) =>
      sessions.forget({ botId, sessionId, environment: environment ?? 'PRODUCTION' }, signal),
  }),
);
