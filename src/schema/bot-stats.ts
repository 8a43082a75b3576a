import type { BotStats, Counts, DayCounts } from '../runs/stats.ts';
import { MAX_INT } from '../storage/int.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';

const tokensOf = ({ tokens }: Counts) => Math.min(tokens, MAX_INT);
const TOKENS = 'Sum of prompt and completion tokens, capped at 2,147,483,647.';

const DayStats = builder.objectRef<DayCounts>('DayStats').implement({
  description: 'Statistics of a bot for one UTC day.',
  fields: (t) => ({
    date: t.expose('date', { type: 'Date', description: 'UTC day.' }),
    runs: t.exposeInt('runs', { description: 'Number of runs.' }),
    failed: t.exposeInt('failed', { description: 'Number of failed runs.' }),
    tokens: t.int({ description: TOKENS, resolve: tokensOf }),
  }),
});

const BotStatsObject = builder.objectRef<BotStats>('BotStats').implement({
  description: 'Statistics of a bot over a period, by creation time of its runs.',
  fields: (t) => ({
    runs: t.exposeInt('runs', { description: 'Number of runs.' }),
    failed: t.exposeInt('failed', { description: 'Number of failed runs.' }),
    tokens: t.int({ description: TOKENS, resolve: tokensOf }),
    latencyP50: t.exposeFloat('latencyP50', {
      nullable: true,
      description:
        'Median latency of the finished runs, in milliseconds. Null without finished runs.',
    }),
    latencyP95: t.exposeFloat('latencyP95', {
      nullable: true,
      description:
        '95th percentile of the latency of the finished runs, in milliseconds. Null without finished runs.',
    }),
    perDay: t.expose('perDay', {
      type: [DayStats],
      description:
        'Statistics for each UTC day of the period in order, including days without runs.',
    }),
  }),
});

const loadStats = batchLoader((botIds, { from, to }: { from: Date; to: Date }, { runStats }) =>
  runStats.sumUp(botIds, from, to),
);

builder.prismaObjectField('Bot', 'stats', (t) =>
  t.field({
    type: BotStatsObject,
    description:
      'Statistics of the bot over a period of at most 366 days. Each occurrence in a document costs 20 of the 100 points that an operation may cost. Requires the scope RUNS.',
    authScopes: { scope: 'RUNS' },
    args: {
      from: t.arg({
        type: 'DateTime',
        required: true,
        description: 'Counts runs created at or after this time.',
      }),
      to: t.arg({
        type: 'DateTime',
        required: true,
        description: 'Counts runs created before this time.',
      }),
    },
    resolve: ({ id }, { from, to }, context, info) => loadStats(id, { from, to }, context, info),
  }),
);
