import { getRefFromModel, queryFromInfo } from '@pothos/plugin-prisma';
import { z } from 'zod';
import { authorizeScope, mayUseBot } from '../accounts/caller.ts';
import { CREATED_KEYS, coveredInList } from '../accounts/key-lists.ts';
import { KeyScope } from '../generated/prisma/client.ts';
import { botId, displayName, listOf } from '../input.ts';
import { readLists } from '../storage/lists.ts';
import { together } from './batch-loader.ts';
import { builder } from './builder.ts';
import { listsOf, nodesQuery } from './nodes.ts';

const KeyScopeEnum = builder.enumType('KeyScope', {
  description: 'What a key may do.',
  values: {
    CHAT: { value: KeyScope.CHAT, description: 'Talk to bots.' },
    DEPLOY: { value: KeyScope.DEPLOY, description: 'Deploy definitions and read their source.' },
    RUNS: { value: KeyScope.RUNS, description: 'Read runs and their traces.' },
    ADMIN: { value: KeyScope.ADMIN, description: 'Make and delete bots and keys.' },
    OPERATOR: { value: KeyScope.OPERATOR, description: 'Make accounts and set their plans.' },
  },
});

/** How many entries all keys of an account count as: see `assertReadable`. */
const WEIGHT = { entries: 50 };

/** The bots that keys are limited to, as far as the caller may see them: of its own account alone. */
const botsOfKeys = together(async (ids, { query }: { query: object }, { prisma, caller }) => {
  const seen = ids.filter((id) => mayUseBot(caller(), id));
  const accountId = caller().account.id;
  const bots = await prisma.bot.findMany({ ...query, where: { id: { in: seen }, accountId } });
  const byId = new Map(bots.map((bot) => [bot.id, bot]));
  return (id) => byId.get(id) ?? null;
});

export const ApiKeyNode = builder.prismaNode('ApiKey', {
  description: 'An API key. Its secret is shown once, when it is made.',
  id: { resolve: ({ id }) => id },
  nullable: true,
  findUnique: (id, { caller }) => {
    authorizeScope(caller(), 'ADMIN');
    return { id, accountId: caller().account.id };
  },
  fields: (t) => ({
    name: t.exposeString('name'),
    prefix: t.exposeString('prefix', {
      description: 'How the secret begins, to recognise it by.',
    }),
    scopes: t.expose('scopes', { type: [KeyScopeEnum] }),
    bots: t.field({
      type: [getRefFromModel('Bot', builder)],
      nullable: true,
      description:
        'The bots that it is limited to, as far as the own key may use them; null where it may use all of the account.',
      resolve: async ({ restricted, botIds }, _args, context, info) => {
        if (!restricted) return null;
        const question = { query: queryFromInfo({ context, info }) };
        const bots = await Promise.all(botIds.map((id) => botsOfKeys(id, question, context, info)));
        return bots.filter((bot) => bot !== null);
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Exact to a minute.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true }),
  }),
});

const keyById = together((ids, _question, { caller, keys }) => keys.listByIds(caller(), ids));
const createdKeysOf = listsOf(
  CREATED_KEYS,
  ({ prisma, caller }, creatorIds, page) =>
    readLists(prisma, CREATED_KEYS, creatorIds, page, coveredInList(caller())),
  ({ prisma }, query) => prisma.apiKey.findMany(query),
);

builder.prismaObjectFields('ApiKey', (t) => ({
  createdBy: t.field({
    type: ApiKeyNode,
    nullable: true,
    description:
      'The key that made it; null of the first key of an account, and where the own key can do less. Scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    resolve: ({ createdById }, _args, context, info) =>
      createdById === null ? null : keyById(createdById, {}, context, info),
  }),
  createdKeys: t.connection(
    {
      type: ApiKeyNode,
      description:
        'The keys that it made itself, the newest first, revoked ones too: they outlive it unless they are revoked with it. Scope ADMIN.',
      authScopes: { scope: 'ADMIN' },
      resolve: ({ id }, args, context, info) =>
        createdKeysOf(id, args, nodesQuery('ApiKey', context, info), context, info),
    },
    { name: 'ApiKeyConnection' },
    { name: 'ApiKeyEdge' },
  ),
}));

const keysOf = together((accountIds, _question, { caller, keys }) =>
  keys.list(caller(), accountIds),
);

builder.prismaObjectField('Account', 'apiKeys', (t) =>
  t.field({
    type: [ApiKeyNode],
    description: 'Those that can do nothing more than this key, the newest first. Scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    extensions: WEIGHT,
    resolve: ({ id }, _args, context, info) => keysOf(id, {}, context, info),
  }),
);

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'A new key of the own account. It can do nothing that the key that makes it cannot.',
  fields: (t) => ({
    name: t.string({ required: true, validate: { schema: displayName } }),
    scopes: t.field({
      type: [KeyScopeEnum],
      description: 'CHAT alone by default.',
      validate: {
        minLength: [1, { message: 'must not be empty' }],
        maxLength: [20, { message: 'must be at most 20' }],
      },
    }),
    botIds: t.idList({
      description: 'The bots that it is limited to, at most 100; all of the account by default.',
      validate: { schema: listOf(botId, 100) },
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When it stops working; by default with the key that makes it.',
      validate: {
        schema: z.date().refine((date) => date.getTime() > Date.now(), 'must be in the future'),
      },
    }),
  }),
});

builder.mutationField('createApiKey', (t) =>
  t.field({
    type: builder.simpleObject('CreateApiKeyPayload', {
      description: 'The key, and its secret.',
      fields: (payload) => ({
        apiKey: payload.field({ type: ApiKeyNode }),
        secret: payload.string({ description: 'The API key itself, shown this once.' }),
      }),
    }),
    description: 'Makes a key for the own account. Scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    args: { input: t.arg({ type: CreateApiKeyInput, required: true }) },
    resolve: (_root, { input }, { caller, keys }) => keys.issue(caller(), input),
  }),
);

builder.mutationField('revokeApiKey', (t) =>
  t.field({
    type: ApiKeyNode,
    description:
      'Revokes a key of the own account for good. The keys that it made go on, unless withCreated revokes them with it; createdKeys names them. Scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    args: {
      id: t.arg.id({ required: true }),
      withCreated: t.arg.boolean({
        defaultValue: false,
        description:
          'Whether to revoke all keys, too, that it made, directly or by keys that it made.',
      }),
    },
    resolve: (_root, { id, withCreated }, { caller, keys }) =>
      keys.revoke(caller(), id, withCreated ?? false),
  }),
);
