import type { BotStats, Counts, DayCounts, HourCounts } from '../runs/stats.ts';
import { MAX_INT } from '../storage/int.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';

/** The weight of an operation counts the days of the period, each with its hours. */
const HOURS_OF_DAY = 24;

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

const HourStats = builder.objectRef<HourCounts>('HourStats').implement({
  description: 'Statistics of a bot for one UTC hour.',
  fields: (t) => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'Start of the UTC hour.' }),
    runs: t.exposeInt('runs', { description: 'Number of runs.' }),
    failed: t.exposeInt('failed', { description: 'Number of failed runs.' }),
    tokens: t.int({ description: TOKENS, resolve: tokensOf }),
  }),
});

type Period = { from: Date; to: Date };

/** The statistics of a bot, with the question that they answer. */
type BotStatsOf = BotStats & { botId: string; period: Period };

const loadStats = batchLoader((botIds, { from, to }: Period, { runStats }) =>
  runStats.sumUp(botIds, from, to),
);

const loadHours = batchLoader((botIds, { from, to }: Period, { runStats }) =>
  runStats.sumUpByHour(botIds, from, to),
);

const BotStatsObject = builder.objectRef<BotStatsOf>('BotStats').implement({
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
    perHour: t.field({
      type: [HourStats],
      description:
        'Statistics for each UTC hour of a period of at most 7 days in order, including hours without runs.',
      extensions: { entries: HOURS_OF_DAY },
      resolve: ({ botId, period }, _args, context, info) => loadHours(botId, period, context, info),
    }),
  }),
});

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
    resolve: async ({ id: botId }, period, context, info) => {
      const stats = await loadStats(botId, period, context, info);
      return { ...stats, botId, period };
    },
  }),
);
