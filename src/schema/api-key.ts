import { getRefFromModel, queryFromInfo } from '@pothos/plugin-prisma';
import { authorizeScope, mayUseBot } from '../accounts/caller.ts';
import { CREATED_KEYS, coveredInList } from '../accounts/key-lists.ts';
import { readLists } from '../storage/lists.ts';
import {
  botId,
  displayName,
  futureTime,
  listOf,
  MAX_BOTS_OF_KEY,
  MAX_SCOPES,
} from '../text/input.ts';
import { SCOPES } from '../vocabulary/scopes.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';
import { spendEntries } from './selection.ts';

export const KeyScopeEnum = builder.enumType('KeyScope', {
  description: 'Permission of an API key.',
  values: SCOPES,
});

/**
 * Loads the bots that a key is restricted to, if they are of the caller's account and the caller may use them. The ids
 * of the bots are the loader's key, as JSON.
 */
const loadBotsOfKey = batchLoader(
  async (
    lists,
    { query }: { query: object },
    { prisma, caller, readBudget },
    { timesOf, info },
  ) => {
    const ids = new Map(lists.map((list): [string, string[]] => [list, JSON.parse(list)]));
    const count = lists.reduce(
      (sum, list) => sum + (ids.get(list)?.length ?? 0) * timesOf(list),
      0,
    );
    spendEntries(info, count, { readBudget });
    const seen = [...new Set([...ids.values()].flat())].filter((id) => mayUseBot(caller(), id));
    const accountId = caller().account.id;
    const bots = await prisma.bot.findMany({ ...query, where: { id: { in: seen }, accountId } });
    const byId = new Map(bots.map((bot) => [bot.id, bot]));
    return (list) => (ids.get(list) ?? []).flatMap((id) => byId.get(id) ?? []);
  },
);

export const ApiKeyNode = builder.prismaNode('ApiKey', {
  description: 'An API key. Its secret is returned only once, on creation.',
  id: { resolve: ({ id }) => id, description: 'Unique identifier. Opaque; it never changes.' },
  nullable: true,
  findUnique: (id, { caller }) => {
    authorizeScope(caller(), 'ADMIN');
    return { id, accountId: caller().account.id };
  },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name of the key.' }),
    prefix: t.exposeString('prefix', {
      description: 'First characters of the secret, to recognize the key.',
    }),
    scopes: t.expose('scopes', {
      type: [KeyScopeEnum],
      description: 'Scopes that the key grants.',
    }),
    bots: t.field({
      type: [getRefFromModel('Bot', builder)],
      nullable: true,
      description:
        'Bots that the key is restricted to, without bots that the caller may not use. Null if the key may use every bot of the account.',
      resolve: ({ restricted, botIds }, _args, context, info) => {
        if (!restricted) return null;
        const question = { query: queryFromInfo({ context, info }) };
        return loadBotsOfKey(JSON.stringify(botIds), question, context, info);
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last use, accurate to one minute. Null if the key was never used.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the key expires. Null if it does not expire.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the key was revoked. Null if it was not revoked.',
    }),
  }),
});

const loadKey = batchLoader((ids, _question, { caller, keys }) => keys.listByIds(caller(), ids));

const loadCreatedKeys = connectionLoader({
  type: 'ApiKey',
  order: CREATED_KEYS,
  find: ({ prisma, caller }, creatorIds, page) =>
    readLists(prisma, CREATED_KEYS, creatorIds, page, coveredInList(caller())),
  read: ({ prisma }, query) => prisma.apiKey.findMany(query),
});

builder.prismaObjectFields('ApiKey', (t) => ({
  createdBy: t.field({
    type: ApiKeyNode,
    nullable: true,
    description:
      'The key that created this key. Null for the first key of an account, or if the creator has more permissions than the caller. Requires the scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    resolve: ({ createdById }, _args, context, info) =>
      createdById === null ? null : loadKey(createdById, {}, context, info),
  }),
  createdKeys: t.connection(
    {
      type: ApiKeyNode,
      description:
        'Keys that this key created, newest first, including revoked keys. They remain valid after this key is revoked, unless they are revoked with it. Requires the scope ADMIN.',
      authScopes: { scope: 'ADMIN' },
      resolve: ({ id }, args, context, info) => loadCreatedKeys(id, args, context, info),
    },
    { name: 'ApiKeyConnection' },
    { name: 'ApiKeyEdge' },
  ),
}));

const loadKeysOfAccount = batchLoader(
  (accountIds, _question, { caller, keys, readBudget }, { timesOf, info }) =>
    readBudget().inTurn(async () => {
      const keysOf = await keys.list(caller(), accountIds);
      const count = accountIds.reduce((sum, id) => sum + keysOf(id).length * timesOf(id), 0);
      spendEntries(info, count, { readBudget });
      return keysOf;
    }),
);

builder.prismaObjectField('Account', 'apiKeys', (t) =>
  t.field({
    type: [ApiKeyNode],
    description:
      'Keys with no more permissions than the caller’s key, newest first. Requires the scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    resolve: ({ id }, _args, context, info) => loadKeysOfAccount(id, {}, context, info),
  }),
);

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description:
    'Parameters of a new API key. It cannot have more permissions than the caller’s key.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'Display name of the key, 1 to 200 characters.',
      validate: { schema: displayName },
    }),
    scopes: t.field({
      type: [KeyScopeEnum],
      description: 'Scopes of the key. Defaults to CHAT.',
      validate: {
        minLength: [1, { message: 'must not be empty' }],
        maxLength: [MAX_SCOPES, { message: `must be at most ${MAX_SCOPES}` }],
      },
    }),
    botIds: t.idList({
      description:
        'IDs of the bots that the key is restricted to, at most 100. Defaults to every bot of the account.',
      validate: { schema: listOf(botId, MAX_BOTS_OF_KEY) },
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Time at which the key expires. Defaults to the expiry of the caller’s key.',
      validate: { schema: futureTime },
    }),
  }),
});

builder.mutationField('createApiKey', (t) =>
  t.field({
    type: builder.simpleObject('CreateApiKeyPayload', {
      description: 'The new API key and its secret.',
      fields: (payload) => ({
        apiKey: payload.field({
          type: ApiKeyNode,
          description: 'The new key, without its secret.',
        }),
        secret: payload.string({ description: 'The API key itself. It is returned only once.' }),
      }),
    }),
    description: 'Creates an API key for the caller’s account. Requires the scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    args: {
      input: t.arg({
        type: CreateApiKeyInput,
        required: true,
        description: 'Parameters of the key.',
      }),
    },
    resolve: (_root, { input }, { caller, keys }) => keys.issue(caller(), input),
  }),
);

builder.mutationField('revokeApiKey', (t) =>
  t.field({
    type: ApiKeyNode,
    description:
      'Permanently revokes an API key of the caller’s account. Keys that it created remain valid unless withCreated is true. Fails with INVALID_REQUEST if the account would have no key with the scope ADMIN left. Requires the scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    args: {
      id: t.arg.id({ required: true, description: 'ID of the key, not its secret.' }),
      withCreated: t.arg.boolean({
        defaultValue: false,
        description:
          'Whether to also revoke every key created by this key, directly or indirectly, except keys with more permissions than the caller’s.',
      }),
    },
    resolve: (_root, { id, withCreated }, { caller, keys }) =>
      keys.revoke(caller(), id, withCreated ?? false),
  }),
);
