import { getRefFromModel } from '@pothos/plugin-prisma';
import { GatewayError } from '../errors.ts';
import { leastCount, searchText, sessionId, text, utcDay } from '../input.ts';
import type { RunFilter } from '../runs/filter.ts';
import { RUNS } from '../runs/list.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';
import type { Context } from './context.ts';
import { ErrorCodeEnum } from './error-code.ts';
import { RUN_TEXTS } from './run.ts';
import { ChannelEnum, EnvironmentEnum, RunKindEnum, RunStatusEnum } from './shared.ts';

type Length = [number, { message: string }];
const NOT_EMPTY: Length = [1, { message: 'must not be empty' }];
const NOT_MANY: Length = [20, { message: 'must be at most 20' }];

const RunFilterInput = builder.inputType('RunFilter', {
  description: 'Conditions on runs. A run must match all of them.',
  fields: (t) => ({
    user: t.string({
      description: 'Returns only runs of this end user, identified by the session ID.',
      validate: { schema: sessionId },
    }),
    status: t.field({
      type: [RunStatusEnum],
      description: 'Returns only runs with one of these statuses.',
      validate: { minLength: NOT_EMPTY, maxLength: NOT_MANY },
    }),
    channel: t.field({
      type: [ChannelEnum],
      description: 'Returns only runs from one of these channels.',
      validate: { minLength: NOT_EMPTY, maxLength: NOT_MANY },
    }),
    kind: t.field({ type: RunKindEnum, description: 'Returns only runs of this kind.' }),
    date: t.string({
      description: 'Returns only runs created on this UTC day, as YYYY-MM-DD.',
      validate: { schema: utcDay },
    }),
    from: t.field({
      type: 'DateTime',
      description: 'Returns only runs created at or after this time.',
    }),
    to: t.field({ type: 'DateTime', description: 'Returns only runs created before this time.' }),
    environment: t.field({
      type: EnvironmentEnum,
      description: 'Returns only runs in this environment.',
    }),
    deploymentId: t.id({
      description: 'Returns only runs of this deployment.',
      validate: { schema: text },
    }),
    model: t.string({
      description: 'Returns only runs that use the model of this name.',
      validate: { schema: text },
    }),
    errorCode: t.field({
      type: [ErrorCodeEnum],
      description: 'Returns only runs that failed with one of these error codes.',
      validate: { minLength: NOT_EMPTY, maxLength: NOT_MANY },
    }),
    minLatencyMs: t.int({
      description: 'Returns only finished runs that took at least this long, in milliseconds.',
      validate: { schema: leastCount },
    }),
    minTokens: t.int({
      description: 'Returns only runs with at least this many prompt and completion tokens.',
      validate: { schema: leastCount },
    }),
    text: t.string({
      description:
        'Returns only finished runs whose input or response contains these words, among the first 8,192 characters of each. `"a phrase"` finds adjacent words, `-word` excludes runs, and `or` finds either side. Upper and lower case are the same. Searches one bot at a time.',
      validate: { schema: searchText },
    }),
  }),
});

const FILTER = 'Conditions that each run must match. Defaults to all runs.';

const RunConnection = builder.connectionObject({
  type: getRefFromModel('Run', builder),
  name: 'RunConnection',
});

const loadRuns = connectionLoader({
  type: 'Run',
  order: RUNS,
  select: { id: true },
  texts: RUN_TEXTS,
  find: ({ runList }, botIds, page, { filter }: PageArguments & { filter?: RunFilter | null }) =>
    runList.find(botIds, filter ?? {}, page),
  read: ({ prisma }, query) => prisma.run.findMany(query),
});

builder.queryField('runs', (t) =>
  t.connection(
    {
      type: getRefFromModel('Run', builder),
      description: 'Lists the runs of a bot, newest first. Requires the scope RUNS.',
      authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'RUNS' } }),
      args: {
        botId: t.arg.id({ required: true, description: 'ID of the bot.' }),
        filter: t.arg({ type: RunFilterInput, description: FILTER }),
      },
      resolve: (_root, { botId, ...args }, context, info) => loadRuns(botId, args, context, info),
    },
    RunConnection,
  ),
);

builder.prismaObjectField('Bot', 'runs', (t) =>
  t.connection(
    {
      type: getRefFromModel('Run', builder),
      description: 'Runs of the bot, newest first. Requires the scope RUNS.',
      authScopes: { scope: 'RUNS' },
      args: { filter: t.arg({ type: RunFilterInput, description: FILTER }) },
      resolve: ({ id }, args, context, info) => loadRuns(id, args, context, info),
    },
    RunConnection,
  ),
);

/** Yields the id of each changed run that matches the filter when the change arrives. */
async function* changedRuns(botId: string, filter: RunFilter, context: Context) {
  const { runChanges, runList, signal } = context;
  for await (const id of runChanges.follow(botId, signal)) {
    if (await runList.has(botId, filter, id)) yield id;
  }
}

builder.subscriptionField('runChanged', (t) =>
  t.prismaField({
    type: 'Run',
    description:
      'Emits a run of the bot each time it is queued, starts or finishes. A slow subscriber receives only the latest state of a run, and events can repeat. Requires the scope RUNS.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'RUNS' } }),
    args: {
      botId: t.arg.id({ required: true, description: 'ID of the bot.' }),
      filter: t.arg({ type: RunFilterInput, description: FILTER }),
    },
    subscribe: (_root, { botId, filter }, context) => changedRuns(botId, filter ?? {}, context),
    resolve: async (query, id, _args, { prisma }) => {
      const run = await prisma.run.findUnique({ ...query, where: { id } });
      if (run) return run;
      throw new GatewayError('run_not_found', `The run "${id}" no longer exists.`);
    },
  }),
);
