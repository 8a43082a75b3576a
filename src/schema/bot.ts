import type { GraphQLResolveInfo } from 'graphql';
import { mayUseBot } from '../accounts/caller.ts';
import { BOTS, visibleInList } from '../bots/bots.ts';
import { botId, displayName } from '../input.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { readLists } from '../storage/lists.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { listsOf, nodesQuery } from './nodes.ts';

const BotNode = builder.prismaNode('Bot', {
  description: 'A conversational agent. Its id is the one in the paths of the REST API.',
  id: { resolve: ({ id }) => id },
  nullable: true,
  findUnique: (id, { caller }) => ({
    id: mayUseBot(caller(), id) ? id : '',
    accountId: caller().account.id,
  }),
  fields: (t) => ({
    name: t.exposeString('name'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

const BotConnection = builder.connectionObject({ type: BotNode, name: 'BotConnection' });

const botsOf = listsOf(
  BOTS,
  ({ prisma, caller }, accountIds, page) =>
    readLists(prisma, BOTS, accountIds, page, visibleInList(caller())),
  ({ prisma }, query) => prisma.bot.findMany(query),
);

/** A page of the bots of an account that this key may use. */
function readBots(
  accountId: string,
  args: PageArguments,
  context: Context,
  info: GraphQLResolveInfo,
) {
  return botsOf(accountId, args, nodesQuery('Bot', context, info), context, info);
}

builder.prismaObjectField('Account', 'bots', (t) =>
  t.connection(
    {
      type: BotNode,
      description: 'The bots that this key may use, the newest first.',
      resolve: ({ id }, args, context, info) => readBots(id, args, context, info),
    },
    BotConnection,
  ),
);

builder.queryField('bots', (t) =>
  t.connection(
    {
      type: BotNode,
      description: 'The bots that this key may use, the newest first.',
      authScopes: { authenticated: true },
      resolve: (_root, args, context, info) =>
        readBots(context.caller().account.id, args, context, info),
    },
    BotConnection,
  ),
);

builder.queryField('bot', (t) =>
  t.prismaField({
    type: 'Bot',
    nullable: true,
    description: 'One bot. Errors: BOT_NOT_FOUND, BOT_ACCESS_DENIED.',
    authScopes: (_root, { id }) => ({ bot: { id } }),
    args: { id: t.arg.id({ required: true }) },
    resolve: (query, _root, { id }, { prisma }) =>
      prisma.bot.findUnique({ ...query, where: { id } }),
  }),
);

const CreateBotInput = builder.inputType('CreateBotInput', {
  fields: (t) => ({
    id: t.id({
      description:
        '1 to 64 letters, digits, "_" or "-", for good: no other bot ever gets it. Made up where it is left out.',
      validate: { schema: botId },
    }),
    name: t.string({ required: true, validate: { schema: displayName } }),
  }),
});

builder.mutationField('createBot', (t) =>
  t.field({
    type: BotNode,
    description: 'Makes a bot. It answers once a definition is deployed to it. Scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    args: { input: t.arg({ type: CreateBotInput, required: true }) },
    resolve: (_root, { input }, { bots, caller }) => bots.create(caller(), input),
  }),
);

builder.mutationField('deleteBot', (t) =>
  t.id({
    description:
      'Deletes a bot with its deployments, conversations and runs; stops those at work. Scope ADMIN.',
    authScopes: (_root, { id }) => ({ bot: { id, scope: 'ADMIN' } }),
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_root, { id }, { bots, cancel }) => {
      await cancel.cancelAll(id);
      await bots.remove(id);
      return id;
    },
  }),
);
