import { getRefFromModel } from '@pothos/plugin-prisma';
import { GatewayError } from '../errors/errors.ts';
import type { RunFilter } from '../runs/list/filter.ts';
import { RUNS } from '../runs/list/list.ts';
import { countMatches, MAX_READ } from '../runs/list/match-count.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { MAX_COUNTED_RUNS } from '../vocabulary/run-counts.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';
import type { Context } from './context.ts';
import { RUN_TEXTS } from './run.ts';
import { FILTER, RunFilterInput } from './run-filter.ts';

const RunConnection = builder.connectionObject({
  type: getRefFromModel('Run', builder),
  name: 'RunConnection',
});

const loadRuns = connectionLoader({
  type: 'Run',
  order: RUNS,
  select: { id: true },
  texts: RUN_TEXTS,
  find: (
    { runList, search },
    botIds,
    page,
    { filter }: PageArguments & { filter?: RunFilter | null },
  ) => search(filter, () => runList.find(botIds, filter ?? {}, page)),
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

const loadCount = batchLoader((botIds, filter: RunFilter, { prisma }) =>
  countMatches(prisma, botIds, filter),
);

builder.prismaObjectField('Bot', 'runCount', (t) =>
  t.int({
    nullable: true,
    description: `Number of the bot's runs that match the filter, at most ${MAX_COUNTED_RUNS}. It is null if the filter has a \`text\`, and if the count would read more than ${MAX_READ} runs. Requires the scope RUNS.`,
    authScopes: { scope: 'RUNS' },
    args: { filter: t.arg({ type: RunFilterInput, description: FILTER }) },
    resolve: async ({ id }, { filter }, context, info) =>
      (await loadCount(id, filter ?? {}, context, info)) ?? null,
  }),
);

/** Yields the notice of each changed run that matches the filter when the change arrives. */
async function* changedRuns(botId: string, filter: RunFilter, context: Context) {
  const { runChanges, runList, signal } = context;
  const key = JSON.stringify(filter);
  for await (const notice of runChanges.follow(botId, signal)) {
    if (await notice.once(key, () => runList.has(botId, filter, notice.message))) yield notice;
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
    resolve: async (query, { message: id, once }, _args, { prisma }) => {
      const run = await once(JSON.stringify(query), () =>
        prisma.run.findUnique({ ...query, where: { id } }),
      );
      if (run) return run;
      throw new GatewayError('run_not_found', `The run "${id}" no longer exists.`);
    },
  }),
);
