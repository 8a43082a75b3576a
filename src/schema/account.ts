import { z } from 'zod';
import { LIMIT_RULE } from '../accounts/accounts.ts';
import { limitOf, type Quota } from '../accounts/limits.ts';
import { displayName, text } from '../text/input.ts';
import { PLANS, type PlanLimits } from '../vocabulary/plans.ts';
import { ApiKeyNode } from './api-key.ts';
import { builder } from './builder.ts';

const count = (number: number) => number.toLocaleString('en');

function allowanceOf({ requests, activeRuns, backgroundRuns, queuedRuns }: PlanLimits) {
  const ofRequests = requests
    ? `${count(requests.perMinute)} requests a minute and ${count(requests.perDay)} a day.`
    : 'Request limits set per account.';
  const background = `${backgroundRuns} active background ${backgroundRuns === 1 ? 'run' : 'runs'}`;
  const description = `${ofRequests} Allows ${count(activeRuns)} active runs a process, ${background} and ${count(queuedRuns)} queued background runs.`;
  return { description };
}

const PlanEnum = builder.enumType('Plan', {
  description: 'Plan of an account. It determines the request and run limits.',
  values: {
    FREE: allowanceOf(PLANS.FREE),
    PRO: allowanceOf(PLANS.PRO),
    BUSINESS: allowanceOf(PLANS.BUSINESS),
    ENTERPRISE: allowanceOf(PLANS.ENTERPRISE),
  } as const,
});

export const AccountNode = builder.prismaNode('Account', {
  description: 'A tenant with its bots and API keys. Limits apply per account.',
  id: { resolve: ({ id }) => id, description: 'Unique identifier. Opaque; it never changes.' },
  nullable: true,
  findUnique: (id, { caller }) => {
    const { account, key } = caller();
    return { id: key.scopes.includes('OPERATOR') || id === account.id ? id : '' };
  },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name of the account.' }),
    plan: t.expose('plan', { type: PlanEnum, description: 'Plan of the account.' }),
    requestsPerMinute: t.int({
      description: 'Maximum requests per UTC minute.',
      resolve: (account) => limitOf(account).perMinute,
    }),
    requestsPerDay: t.int({
      description: 'Maximum requests per UTC day.',
      resolve: (account) => limitOf(account).perDay,
    }),
  }),
});

const RateLimit = builder.objectRef<Quota>('RateLimit').implement({
  description: 'Request limits of an account, and the requests that remain after this operation.',
  fields: (t) => ({
    perMinute: t.exposeInt('perMinute', { description: 'Maximum requests per UTC minute.' }),
    perDay: t.exposeInt('perDay', { description: 'Maximum requests per UTC day.' }),
    limit: t.exposeInt('perMinute', {
      description: 'Maximum requests per UTC minute, as in the header `X-RateLimit-Limit`.',
    }),
    remaining: t.exposeInt('remaining', {
      description:
        'Requests left in the window with fewer requests left, as in the header `X-RateLimit-Remaining`.',
    }),
    remainingMinute: t.exposeInt('remainingMinute', {
      description: 'Requests left in the current UTC minute.',
    }),
    remainingDay: t.exposeInt('remainingDay', {
      description: 'Requests left in the current UTC day.',
    }),
    resetAt: t.field({
      type: 'DateTime',
      description: 'Time at which the window with fewer requests left ends.',
      resolve: ({ reset }) => new Date(reset * 1_000),
    }),
  }),
});

export const Viewer = builder.simpleObject('Viewer', {
  description: 'The caller.',
  fields: (t) => ({
    account: t.field({
      type: AccountNode,
      description: 'The account that the request counts against.',
    }),
    apiKey: t.field({ type: ApiKeyNode, description: 'The API key of the request.' }),
    rateLimit: t.field({
      type: RateLimit,
      description: 'Request limits of the account and the requests that remain.',
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'Retrieves the account and API key of the request.',
    authScopes: { authenticated: true },
    resolve: async (_root, _args, { caller, quota }) => {
      const { account, key } = caller();
      return { account, apiKey: key, rateLimit: await quota() };
    },
  }),
);

const requestLimit = z.int().min(1, 'must be at least 1').max(1_000_000_000);

const CreateAccountInput = builder.inputType('CreateAccountInput', {
  description:
    'Parameters of a new account. The plan ENTERPRISE requires both limits; other plans allow neither.',
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
    name: t.string({
      required: true,
      description: 'Display name of the account, 1 to 200 characters.',
      validate: { schema: displayName },
    }),
    plan: t.field({ type: PlanEnum, required: true, description: 'Plan of the account.' }),
    requestsPerMinute: t.int({
      description: 'Maximum requests per UTC minute, at least 1.',
      validate: { schema: requestLimit },
    }),
    requestsPerDay: t.int({
      description: 'Maximum requests per UTC day, at least 1.',
      validate: { schema: requestLimit },
    }),
  }),
});

builder.mutationField('createAccount', (t) =>
  t.field({
    type: builder.simpleObject('CreateAccountPayload', {
      description: 'The new account and its first API key, which has every scope except OPERATOR.',
      fields: (payload) => ({
        account: payload.field({ type: AccountNode, description: 'The new account.' }),
        apiKey: payload.field({ type: ApiKeyNode, description: 'The first key of the account.' }),
        secret: payload.string({ description: 'The API key itself. It is returned only once.' }),
      }),
    }),
    description: 'Creates an account. Requires the scope OPERATOR.',
    authScopes: { scope: 'OPERATOR' },
    args: {
      input: t.arg({
        type: CreateAccountInput,
        required: true,
        description: 'Parameters of the account.',
      }),
    },
    resolve: (_root, { input }, { accounts, caller }) => accounts.create(caller(), input),
  }),
);

const UpdateAccountInput = builder.inputType('UpdateAccountInput', {
  description:
    'Fields to change; omitted fields keep their values. The plan ENTERPRISE requires both limits; other plans allow neither.',
  fields: (t) => ({
    name: t.string({
      description: 'Display name of the account, 1 to 200 characters.',
      validate: { schema: displayName },
    }),
    plan: t.field({
      type: PlanEnum,
      description: 'Plan of the account, effective from its next request.',
    }),
    requestsPerMinute: t.int({
      description: 'Maximum requests per UTC minute, at least 1.',
      validate: { schema: requestLimit },
    }),
    requestsPerDay: t.int({
      description: 'Maximum requests per UTC day, at least 1.',
      validate: { schema: requestLimit },
    }),
  }),
});

builder.mutationField('updateAccount', (t) =>
  t.field({
    type: AccountNode,
    description:
      'Updates an account, effective from its next request. Requires the scope OPERATOR. Error: NOT_FOUND.',
    authScopes: { scope: 'OPERATOR' },
    args: {
      id: t.arg.id({
        required: true,
        description: 'ID of the account.',
        validate: { schema: text },
      }),
      input: t.arg({ type: UpdateAccountInput, required: true, description: 'Fields to change.' }),
    },
    resolve: (_root, { id, input }, { accounts, caller }) => accounts.update(caller(), id, input),
  }),
);
