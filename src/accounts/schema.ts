import { getRefFromModel, queryFromInfo } from '@pothos/plugin-prisma';
import { z } from 'zod';
import { KeyScope, Plan } from '../generated/prisma/client.ts';
import { botId, displayName, sessionId, text } from '../input.ts';
import { builder } from '../schema/builder.ts';
import { EnvironmentEnum } from '../schema/shared.ts';
import { together } from '../schema/together.ts';
import { LIMIT_RULE } from './accounts.ts';
import { authorizeScope } from './caller.ts';
import type { Quota } from './limits.ts';
import { MAX_TOKEN_SECONDS } from './session-tokens.ts';

const PlanEnum = builder.enumType(Plan, {
  name: 'Plan',
  description: 'What an account pays for; it sets how many requests it has.',
});

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

const AccountNode = builder.prismaNode('Account', {
  description: 'A tenant: its bots and its keys. Limits count per account.',
  id: { resolve: ({ id }) => id },
  nullable: true,
  findUnique: (id, { caller }) => {
    const { account, key } = caller();
    return { id: key.scopes.includes('OPERATOR') || id === account.id ? id : '' };
  },
  fields: (t) => ({
    name: t.exposeString('name'),
    plan: t.expose('plan', { type: PlanEnum }),
  }),
});

/** The bots of an account that its keys are limited to. */
const botsOfKeys = together(
  async (ids, { accountId, query }: { accountId: string; query: object }, { prisma }) => {
    const bots = await prisma.bot.findMany({ ...query, where: { id: { in: ids }, accountId } });
    const byId = new Map(bots.map((bot) => [bot.id, bot]));
    return (id) => byId.get(id) ?? null;
  },
);

const ApiKeyNode = builder.prismaNode('ApiKey', {
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
      description: 'The bots that it is limited to; null where it may use all of the account.',
      resolve: async ({ restricted, botIds, accountId }, _args, context, info) => {
        if (!restricted) return null;
        const question = { accountId, query: queryFromInfo({ context, info }) };
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

const keysOf = together((accountIds, _question, { caller, keys }) =>
  keys.list(caller(), accountIds),
);

builder.prismaObjectField('Account', 'apiKeys', (t) =>
  t.field({
    type: [ApiKeyNode],
    description: 'Those that can do nothing more than this key, the newest first. Scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    resolve: ({ id }, _args, context, info) => keysOf(id, {}, context, info),
  }),
);

const RateLimit = builder.objectRef<Quota>('RateLimit').implement({
  description: 'What the account has, and what is left after this operation.',
  fields: (t) => ({
    perMinute: t.exposeInt('perMinute', { description: 'Requests in a UTC minute.' }),
    perDay: t.exposeInt('perDay', { description: 'Requests in a UTC day.' }),
    remainingMinute: t.exposeInt('remainingMinute'),
    remainingDay: t.exposeInt('remainingDay'),
    resetAt: t.field({
      type: 'DateTime',
      description: 'When the window ends that has less left.',
      resolve: ({ reset }) => new Date(reset * 1_000),
    }),
  }),
});

const Viewer = builder.simpleObject('Viewer', {
  description: 'Who asks.',
  fields: (t) => ({
    account: t.field({ type: AccountNode }),
    apiKey: t.field({ type: ApiKeyNode, description: 'The key of this request.' }),
    rateLimit: t.field({ type: RateLimit }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'Who asks: the account and the key of this request.',
    authScopes: { authenticated: true },
    resolve: async (_root, _args, { caller, quota }) => {
      const { account, key } = caller();
      return { account, apiKey: key, rateLimit: await quota() };
    },
  }),
);

const requestLimit = z.int().min(1, 'must be at least 1').max(1_000_000_000);

const CreateAccountInput = builder.inputType('CreateAccountInput', {
  description: 'A new tenant. The two limits go with ENTERPRISE, which needs them.',
  validate: {
    refine: [
      [
        ({ plan, requestsPerMinute }) => (plan === 'ENTERPRISE') === (requestsPerMinute != null),
        { message: LIMIT_RULE, path: ['requestsPerMinute'] },
      ],
      [
        ({ plan, requestsPerDay }) => (plan === 'ENTERPRISE') === (requestsPerDay != null),
        { message: LIMIT_RULE, path: ['requestsPerDay'] },
      ],
    ],
  },
  fields: (t) => ({
    name: t.string({ required: true, validate: { schema: displayName } }),
    plan: t.field({ type: PlanEnum, required: true }),
    requestsPerMinute: t.int({ validate: { schema: requestLimit } }),
    requestsPerDay: t.int({ validate: { schema: requestLimit } }),
  }),
});

builder.mutationField('createAccount', (t) =>
  t.field({
    type: builder.simpleObject('CreateAccountPayload', {
      description: 'The account and its first key, which has every scope but OPERATOR.',
      fields: (payload) => ({
        account: payload.field({ type: AccountNode }),
        apiKey: payload.field({ type: ApiKeyNode }),
        secret: payload.string({ description: 'The API key itself, shown this once.' }),
      }),
    }),
    description: 'Makes an account. Scope OPERATOR.',
    authScopes: { scope: 'OPERATOR' },
    args: { input: t.arg({ type: CreateAccountInput, required: true }) },
    resolve: (_root, { input }, { accounts }) => accounts.create(input),
  }),
);

const UpdateAccountInput = builder.inputType('UpdateAccountInput', {
  description:
    'What changes; what is left out stays. The two limits go with ENTERPRISE, which needs them.',
  fields: (t) => ({
    name: t.string({ description: '1 to 200 characters.', validate: { schema: displayName } }),
    plan: t.field({ type: PlanEnum, description: 'What it pays for from the next request on.' }),
    requestsPerMinute: t.int({
      description: 'Requests in a UTC minute, 1 at least.',
      validate: { schema: requestLimit },
    }),
    requestsPerDay: t.int({
      description: 'Requests in a UTC day, 1 at least.',
      validate: { schema: requestLimit },
    }),
  }),
});

builder.mutationField('updateAccount', (t) =>
  t.field({
    type: AccountNode,
    description:
      'Changes any account, from its very next request on. Scope OPERATOR. Error: NOT_FOUND.',
    authScopes: { scope: 'OPERATOR' },
    args: {
      id: t.arg.id({
        required: true,
        description: 'The account’s id.',
        validate: { schema: text },
      }),
      input: t.arg({ type: UpdateAccountInput, required: true }),
    },
    resolve: (_root, { id, input }, { accounts }) => accounts.update(id, input),
  }),
);

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'A new key of the own account. It can do nothing that the key that makes it cannot.',
  fields: (t) => ({
    name: t.string({ required: true, validate: { schema: displayName } }),
    scopes: t.field({
      type: [KeyScopeEnum],
      description: 'CHAT alone by default.',
      validate: { minLength: [1, { message: 'must not be empty' }] },
    }),
    botIds: t.idList({
      description: 'The bots that it is limited to; all of the account by default.',
      validate: { items: { schema: botId }, maxLength: [100, { message: 'must be at most 100' }] },
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

const CreateSessionTokenInput = builder.inputType('CreateSessionTokenInput', {
  description: 'The one conversation that a browser is to take part in.',
  fields: (t) => ({
    botId: t.id({ required: true }),
    sessionId: t.string({
      required: true,
      description: 'Stable and unique for each end user, 1 to 256 visible characters.',
      validate: { schema: sessionId },
    }),
    environment: t.field({ type: EnvironmentEnum, description: 'PRODUCTION by default.' }),
    expiresIn: t.int({
      description: `Seconds that it holds: 1 to ${MAX_TOKEN_SECONDS}, which is the default.`,
      validate: {
        schema: z
          .int()
          .min(1, 'must be at least 1')
          .max(MAX_TOKEN_SECONDS, `must be at most ${MAX_TOKEN_SECONDS}`),
      },
    }),
  }),
});

builder.mutationField('createSessionToken', (t) =>
  t.field({
    type: builder.simpleObject('CreateSessionTokenPayload', {
      description: 'A token that a page may have.',
      fields: (payload) => ({
        token: payload.string({
          description:
            'Sent in place of an API key, on GraphQL alone: to `chat`, and to follow and stop what it began.',
        }),
        expiresAt: payload.field({
          type: 'DateTime',
          description: 'When it stops working, unless the key that made it is revoked before.',
        }),
      }),
    }),
    description:
      'Makes a token for a page, which must never hold a key: for one session of one bot. What it does counts against the account. Scope CHAT.',
    authScopes: (_root, { input }) => ({ bot: { id: input.botId, scope: 'CHAT' } }),
    args: { input: t.arg({ type: CreateSessionTokenInput, required: true }) },
    resolve: (_root, { input }, { caller, sessionTokens }) => {
      const { botId, sessionId, environment, expiresIn } = input;
      const session = { botId, sessionId, environment: environment ?? 'PRODUCTION' };
      return sessionTokens.issue(caller(), session, expiresIn ?? MAX_TOKEN_SECONDS);
    },
  }),
);

builder.mutationField('revokeApiKey', (t) =>
  t.field({
    type: ApiKeyNode,
    description: 'Stops a key of the own account for good. Scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, { caller, keys }) => keys.revoke(caller(), id),
  }),
);
