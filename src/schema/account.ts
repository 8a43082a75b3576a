import { z } from 'zod';
import { LIMIT_RULE } from '../accounts/accounts.ts';
import type { Quota } from '../accounts/limits.ts';
import { Plan } from '../generated/prisma/client.ts';
import { displayName, text } from '../input.ts';
import { ApiKeyNode } from './api-key.ts';
import { builder } from './builder.ts';

const PlanEnum = builder.enumType(Plan, {
  name: 'Plan',
  description: 'What an account pays for; it sets how many requests it has.',
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
