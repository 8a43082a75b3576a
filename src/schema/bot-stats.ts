import type { GraphQLResolveInfo } from 'graphql';
import type { StatsReader } from '../runs/stats/stats.ts';
import type { StatsQuestion, Unit } from '../runs/stats/stats-period.ts';
import { MAX_INT } from '../storage/int.ts';
import { HIGHEST_PRICE } from './admission/points.ts';
import { batchLoader, located } from './batch-loader.ts';
import { builder } from './builder.ts';
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

type Read<Name extends 'counts' | 'latencies' | 'ratings'> = (
  unit: Unit | undefined,
  info: GraphQLResolveInfo,
) => ReturnType<StatsReader[Name]>;

/** The statistics of all bots of a list. Each is read once, and has one error, however many fields need it. */
type Statistics = Pick<StatsReader, 'starts'> & {
  counts: Read<'counts'>;
  latencies: Read<'latencies'>;
  ratings: Read<'ratings'>;
};

/** The runs of a bot that a value covers: the runs of one day or hour, or of the whole period without a unit. */
type Span = { botId: string; statistics: Statistics; unit?: Unit | undefined; startedAt: Date };

const capped = (tokens: number) => Math.min(tokens, MAX_INT);

const loadStatistics = batchLoader(async (botIds, question: StatsQuestion, context) => {
  const reader = context.runStats.of(botIds, question);
  const places = new Map<unknown, unknown>();
  const once = <Answer>(read: (unit: Unit | undefined) => Promise<Answer>) => {
    const answers = new Map<Unit | undefined, Promise<Answer>>();
    return (unit: Unit | undefined, info: GraphQLResolveInfo) => {
      const answer =
        answers.get(unit) ??
        context
          .search(question.filter, () => read(unit))
          .catch((error: unknown) => {
            if (!places.has(error)) places.set(error, located(error, info));
            throw places.get(error);
          });
      answers.set(unit, answer);
      return answer;
    };
  };
  const statistics: Statistics = {
    starts: reader.starts,
    counts: once(reader.counts),
    latencies: once(reader.latencies),
    ratings: once(reader.ratings),
  };
  return () => statistics;
});

async function countsOf({ botId, statistics, unit, startedAt }: Span, info: GraphQLResolveInfo) {
  return (await statistics.counts(unit, info))(botId)(startedAt);
}

async function latenciesOf({ botId, statistics, unit, startedAt }: Span, info: GraphQLResolveInfo) {
  return (await statistics.latencies(unit, info))(botId)(startedAt);
}

async function ratingsOf({ botId, statistics, unit, startedAt }: Span, info: GraphQLResolveInfo) {
  return (await statistics.ratings(unit, info))(botId)(startedAt);
}

/** The days or hours of a whole period. */
function spansOf(whole: Span, unit: Unit): Span[] {
  return whole.statistics.starts(unit).map((startedAt) => ({ ...whole, unit, startedAt }));
}

const DayStats = builder.objectRef<Span>('DayStats').implement({
  description: 'Statistics of a bot for one UTC day.',
  fields: (t) => ({
    date: t.field({
      type: 'Date',
      description: 'UTC day.',
      resolve: ({ startedAt }) => startedAt.toISOString().slice(0, 10),
    }),
  }),
});

const HourStats = builder.objectRef<Span>('HourStats').implement({
  description: 'Statistics of a bot for one UTC hour.',
  fields: (t) => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'Start of the UTC hour.' }),
  }),
});

const BotStatsObject = builder.objectRef<Span>('BotStats').implement({
  description: 'Statistics of a bot over a period, by creation time of its runs.',
  fields: (t) => ({
    perDay: t.field({
      type: [DayStats],
      description:
        'Statistics for each UTC day of the period in order, including days without runs.',
      resolve: (whole) => spansOf(whole, 'day'),
    }),
    perHour: t.field({
      type: [HourStats],
      description:
        'Statistics for each UTC hour of a period of at most 7 days in order, including hours without runs.',
      resolve: (whole) => spansOf(whole, 'hour'),
    }),
  }),
});

for (const type of [BotStatsObject, DayStats, HourStats]) {
  builder.objectFields(type, (t) => ({
    runs: t.int({
      description: RUNS,
      resolve: async (span: Span, _args, _context, info) => (await countsOf(span, info))?.runs ?? 0,
    }),
    failed: t.int({
      description: FAILED,
      resolve: async (span: Span, _args, _context, info) =>
        (await countsOf(span, info))?.failed ?? 0,
    }),
    tokens: t.int({
      description: TOKENS,
      resolve: async (span: Span, _args, _context, info) =>
        capped((await countsOf(span, info))?.tokens ?? 0),
    }),
    latencyP50: t.float({
      nullable: true,
      description: P50,
      resolve: async (span: Span, _args, _context, info) =>
        (await latenciesOf(span, info))?.p50 ?? null,
    }),
    latencyP95: t.float({
      nullable: true,
      description: P95,
      resolve: async (span: Span, _args, _context, info) =>
        (await latenciesOf(span, info))?.p95 ?? null,
    }),
    thumbsUp: t.int({
      description: THUMBS_UP,
      resolve: async (span: Span, _args, _context, info) => (await ratingsOf(span, info))?.up ?? 0,
    }),
    thumbsDown: t.int({
      description: THUMBS_DOWN,
      resolve: async (span: Span, _args, _context, info) =>
        (await ratingsOf(span, info))?.down ?? 0,
    }),
  }));
}

builder.prismaObjectField('Bot', 'stats', (t) =>
  t.field({
    type: BotStatsObject,
    description: `Statistics of the bot over a period of at most 366 days. A filter by more than time, kind, environment, channel and status fails with SEARCH_TOO_BROAD if too many runs match. ${HIGHEST_PRICE} Requires the scope RUNS.`,
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
      const statistics = await loadStatistics(botId, question, context, info);
      // Checks the period.
      statistics.starts('day');
      // A search that is too broad takes its time once.
      if (question.filter?.text != null) await statistics.counts(undefined, info);
      return { botId, statistics, startedAt: question.from };
    },
  }),
);
