import type { BotStats, Counts, DayCounts } from '../runs/stats.ts';
import { MAX_INT } from '../storage/int.ts';
import { together } from './batch-loader.ts';
import { builder } from './builder.ts';

const tokensOf = ({ tokens }: Counts) => Math.min(tokens, MAX_INT);
const TOKENS = 'Of prompts and completions; 2,147,483,647 where there are more.';

const DayStats = builder.objectRef<DayCounts>('DayStats').implement({
  description: 'What a bot did on one UTC day.',
  fields: (t) => ({
    date: t.exposeString('date', { description: 'YYYY-MM-DD.' }),
    runs: t.exposeInt('runs'),
    failed: t.exposeInt('failed'),
    tokens: t.int({ description: TOKENS, resolve: tokensOf }),
  }),
});

const BotStatsObject = builder.objectRef<BotStats>('BotStats').implement({
  description: 'What a bot did in some time, by when its runs were made.',
  fields: (t) => ({
    runs: t.exposeInt('runs'),
    failed: t.exposeInt('failed'),
    tokens: t.int({ description: TOKENS, resolve: tokensOf }),
    latencyP50: t.exposeFloat('latencyP50', {
      nullable: true,
      description: 'Milliseconds that half of the runs that have ended took at most.',
    }),
    latencyP95: t.exposeFloat('latencyP95', {
      nullable: true,
      description: 'The same of 95 in 100.',
    }),
    perDay: t.expose('perDay', {
      type: [DayStats],
      description: 'Every UTC day of it in order, those without runs too.',
    }),
  }),
});

const statsOf = together((botIds, { from, to }: { from: Date; to: Date }, { runStats }) =>
  runStats.sumUp(botIds, from, to),
);

builder.prismaObjectField('Bot', 'stats', (t) =>
  t.field({
    type: BotStatsObject,
    description:
      'What it did from one moment on and before another, 366 days later at most. It takes 20 points of work at each place of a document, of the 100 that an operation may take. Scope RUNS.',
    authScopes: { scope: 'RUNS' },
    args: {
      from: t.arg({ type: 'DateTime', required: true }),
      to: t.arg({ type: 'DateTime', required: true }),
    },
    resolve: ({ id }, { from, to }, context, info) => statsOf(id, { from, to }, context, info),
  }),
);
