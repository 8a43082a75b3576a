import type { GraphQLResolveInfo } from 'graphql';
import type { Counts } from '../runs/stats/stats.ts';
import type { StatsQuestion, Unit } from '../runs/stats/stats-period.ts';
import { MAX_INT } from '../storage/int.ts';
import { HIGHEST_PRICE } from './admission/points.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { FILTER, RunFilterInput } from './run-filter.ts';

const RUNS = 'Number of runs.';
const FAILED = 'Number of failed runs.';
const TOKENS = 'Sum of prompt and completion tokens, capped at 2,147,483,647.';
const ESTIMATE =
  'An estimate, at most 1 % above or below the exact value; exact below 50 ms. Null without finished runs.';
const P50 = `Median latency of the finished runs, in milliseconds. ${ESTIMATE}`;
const P95 = `95th percentile of the latency of the finished runs, in milliseconds. ${ESTIMATE}`;

const THUMBS_UP = 'Number of runs with at least one rating UP.';
const THUMBS_DOWN = 'Number of runs with at least one rating DOWN.';

/** The runs of a bot that a value covers: the runs of one day or hour, or of the whole period without a unit. */
type Span = { botId: string; question: StatsQuestion; unit?: Unit | undefined; startedAt: Date };
type BotStats = Span & { days: Counts[] };
type Part = Span & Counts;

type CountName = 'runs' | 'failed' | 'tokens';
const total = ({ days }: BotStats, name: CountName) =>
  days.reduce((sum, day) => sum + day[name], 0);
const capped = (tokens: number) => Math.min(tokens, MAX_INT);

const loadCounts = batchLoader(
  (botIds, { unit, ...question }: StatsQuestion & { unit: Unit }, { runStats, search }) =>
    search(question.filter, () => runStats.count(botIds, question, unit)),
);
const loadLatencies = batchLoader(
  (
    botIds,
    { unit, ...question }: StatsQuestion & { unit?: Unit | undefined },
    { runStats, search },
  ) => search(question.filter, () => runStats.latencies(botIds, question, unit)),
);
const loadRatings = batchLoader(
  (
    botIds,
    { unit, ...question }: StatsQuestion & { unit?: Unit | undefined },
    { runStats, search },
  ) => search(question.filter, () => runStats.ratings(botIds, question, unit)),
);

/** Both percentiles of all spans of a list come from one statement. */
async function latenciesOf(
  { botId, question, unit, startedAt }: Span,
  context: Context,
  info: GraphQLResolveInfo,
) {
  const latencies = loadLatencies(botId, { ...question, unit }, context, info, info.path.prev);
  return (await latencies)(startedAt);
}

/** Both ratings of all spans of a list come from one statement. */
async function ratingsOf(
  { botId, question, unit, startedAt }: Span,
  context: Context,
  info: GraphQLResolveInfo,
) {
  const ratings = loadRatings(botId, { ...question, unit }, context, info, info.path.prev);
  return (await ratings)(startedAt);
}

const DayStats = builder.objectRef<Part>('DayStats').implement({
  description: 'Statistics of a bot for one UTC day.',
  fields: (t) => ({
    date: t.field({
      type: 'Date',
      description: 'UTC day.',
      resolve: ({ startedAt }) => startedAt.toISOString().slice(0, 10),
    }),
  }),
});

const HourStats = builder.objectRef<Part>('HourStats').implement({
  description: 'Statistics of a bot for one UTC hour.',
  fields: (t) => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'Start of the UTC hour.' }),
  }),
});

const BotStatsObject = builder.objectRef<BotStats>('BotStats').implement({
  description: 'Statistics of a bot over a period, by creation time of its runs.',
  fields: (t) => ({
    runs: t.int({ description: RUNS, resolve: (stats) => total(stats, 'runs') }),
    failed: t.int({ description: FAILED, resolve: (stats) => total(stats, 'failed') }),
    tokens: t.int({ description: TOKENS, resolve: (stats) => capped(total(stats, 'tokens')) }),
    perDay: t.field({
      type: [DayStats],
      description:
        'Statistics for each UTC day of the period in order, including days without runs.',
      resolve: ({ botId, question, days }) =>
        days.map((day) => ({ ...day, botId, question, unit: 'day' as const })),
    }),
    perHour: t.field({
      type: [HourStats],
      description:
        'Statistics for each UTC hour of a period of at most 7 days in order, including hours without runs.',
      resolve: async ({ botId, question }, _args, context, info) => {
        const unit = 'hour' as const;
        const hours = await loadCounts(botId, { ...question, unit }, context, info);
        return hours.map((hour) => ({ ...hour, botId, question, unit }));
      },
    }),
  }),
});

for (const type of [DayStats, HourStats]) {
  builder.objectFields(type, (t) => ({
    runs: t.exposeInt('runs', { description: RUNS }),
    failed: t.exposeInt('failed', { description: FAILED }),
    tokens: t.int({ description: TOKENS, resolve: ({ tokens }) => capped(tokens) }),
  }));
}

for (const type of [BotStatsObject, DayStats, HourStats]) {
  builder.objectFields(type, (t) => ({
    latencyP50: t.float({
      nullable: true,
      description: P50,
      resolve: async (span: Span, _args, context, info) =>
        (await latenciesOf(span, context, info))?.p50 ?? null,
    }),
    latencyP95: t.float({
      nullable: true,
      description: P95,
      resolve: async (span: Span, _args, context, info) =>
        (await latenciesOf(span, context, info))?.p95 ?? null,
    }),
    thumbsUp: t.int({
      description: THUMBS_UP,
      resolve: async (span: Span, _args, context, info) =>
        (await ratingsOf(span, context, info))?.up ?? 0,
    }),
    thumbsDown: t.int({
      description: THUMBS_DOWN,
      resolve: async (span: Span, _args, context, info) =>
        (await ratingsOf(span, context, info))?.down ?? 0,
    }),
  }));
}

builder.prismaObjectField('Bot', 'stats', (t) =>
  t.field({
    type: BotStatsObject,
    description: `Statistics of the bot over a period of at most 366 days. ${HIGHEST_PRICE} Requires the scope RUNS.`,
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
      filter: t.arg({ type: RunFilterInput, description: FILTER }),
    },
    resolve: async ({ id: botId }, question, context, info) => {
      const days = await loadCounts(botId, { ...question, unit: 'day' }, context, info);
      return { botId, question, startedAt: question.from, days };
    },
  }),
);
