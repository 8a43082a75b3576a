import type { Feedback } from '../generated/prisma/client.ts';
import { keyOfFeedback, MAX_LISTED, ratingsOf } from '../runs/record/feedback.ts';
import { note as validNote } from '../text/input.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { readWithin } from './long-columns.ts';
import type { Demand } from './read-budget.ts';
import { BOT_OF_RUN, MAY_READ, RUN_SCOPE } from './run.ts';
import { FeedbackRatingEnum } from './run-filter.ts';
import { findFollowed, mayFollow } from './run-follow.ts';
import { demandIn } from './selection.ts';

const FeedbackObject = builder.objectRef<Feedback>('Feedback').implement({
  description: 'The rating of a run by the user of its session or by an API key.',
  fields: (t) => ({
    rating: t.expose('rating', { type: FeedbackRatingEnum, description: 'Thumb up or down.' }),
    note: t.exposeString('note', { nullable: true, description: 'Note of the author.' }),
    keyId: t.id({
      nullable: true,
      description: 'ID of the API key that rated the run. Null for the user of the session.',
      resolve: keyOfFeedback,
    }),
    createdAt: t.expose('givenAt', { type: 'DateTime', description: 'Time of the first rating.' }),
    updatedAt: t.expose('changedAt', {
      type: 'DateTime',
      description: 'Time of the last change.',
    }),
  }),
});

const loadFeedback = batchLoader(async (runIds, demand: Demand, context, { timesOf }) => {
  const times = (bytes: number) => runIds.map((id) => bytes * timesOf(id));
  const { copies, entryBytes } = demand;
  const rows = ratingsOf(runIds, { copies: times(copies), entryBytes: times(entryBytes) });
  const budget = context.readBudget();
  const ratings = await budget.inTurn(() => readWithin<Feedback>(context, budget, rows));
  const byRun = Map.groupBy(ratings.toSorted(byTime), ({ runId }) => runId);
  return (id) => byRun.get(id) ?? [];
});

function byTime(one: Feedback, other: Feedback): number {
  const difference = one.givenAt.getTime() - other.givenAt.getTime();
  return difference || (one.author < other.author ? -1 : 1);
}

builder.prismaObjectField('Run', 'feedback', (t) =>
  t.field({
    type: [FeedbackObject],
    description: `Ratings of the run, oldest first, at most ${MAX_LISTED}. ${RUN_SCOPE}`,
    authScopes: MAY_READ,
    resolve: ({ id }, _args, context, info) =>
      loadFeedback(id, demandIn(info, context), context, info),
  }),
);

/** A session token rates as the user of its session. */
const authorOf = (context: Context) => ({
  keyId: context.session() ? null : context.caller().key.id,
});

builder.mutationField('addFeedback', (t) =>
  t.field({
    type: FeedbackObject,
    description:
      'Rates a run, in place of an earlier rating by the same author: the API key, or with a session token the user of the session. Requires the scope CHAT or RUNS; a session token rates runs of its session. Error: RUN_NOT_FOUND.',
    authScopes: mayFollow,
    args: {
      runId: t.arg.id({ required: true, description: 'ID of the run.' }),
      botId: t.arg.id({ description: BOT_OF_RUN }),
      rating: t.arg({ type: FeedbackRatingEnum, required: true, description: 'Thumb up or down.' }),
      note: t.arg.string({
        description: 'Note on the rating, at most 2,000 characters. Defaults to none.',
        validate: { schema: validNote },
      }),
    },
    resolve: async (_root, { runId, botId, rating, note }, context) => {
      await findFollowed(runId, botId ?? undefined, context);
      const given = { rating, note: note ?? null };
      return context.runFeedback.add(runId, authorOf(context), given);
    },
  }),
);

builder.mutationField('removeFeedback', (t) =>
  t.boolean({
    description:
      'Removes the caller’s rating of a run. Returns whether there was one. Requires the scope CHAT or RUNS. Error: RUN_NOT_FOUND.',
    authScopes: mayFollow,
    args: {
      runId: t.arg.id({ required: true, description: 'ID of the run.' }),
      botId: t.arg.id({ description: BOT_OF_RUN }),
    },
    resolve: async (_root, { runId, botId }, context) => {
      await findFollowed(runId, botId ?? undefined, context);
      return context.runFeedback.remove(runId, authorOf(context));
    },
  }),
);
