import { notFound } from '../errors/errors.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';
import { eventPosition } from '../text/input.ts';
import { builder } from './builder.ts';
import { ChatEvent } from './chat-event.ts';
import type { Context } from './context.ts';
import { NULLABLE_TEXT } from './long-columns.ts';
import { scopeOfBot, visibleById } from './of-bot.ts';
import { BOT_OF_RUN, RUN_TEXTS } from './run.ts';
import { RunError, STORED_ERROR } from './run-error.ts';

/** Either scope allows following, cancelling and rating a run. */
const FOLLOW = ['CHAT', 'RUNS'] as const;

export const mayFollow = scopeOfBot(FOLLOW);

/** @throws GatewayError `run_not_found` if the caller may not follow such a run. */
export async function findFollowed(id: string, botId: string | undefined, context: Context) {
  const { caller, prisma } = context;
  const { sessionId, environment } = context.session() ?? {};
  const where = { ...visibleById({ id, botId }, caller()), sessionId, environment };
  // Prisma batches concurrent `findUnique` calls, so one id with U+0000 would fail all of them.
  const run = await prisma.run.findFirst({ where, select: { id: true } });
  if (run === null) throw notFound('run', id);
}

builder.prismaObjectFields('Run', (t) => ({
  replyText: t.string({
    nullable: true,
    description:
      'Text of the reply of a run that has ended, as its events have it. Null while it is active. Requires the scope CHAT or RUNS.',
    authScopes: { scope: FOLLOW },
    select: { id: true, finishedAt: true },
    resolve: async ({ id, finishedAt }, _args, context, info) =>
      finishedAt && NULLABLE_TEXT.parse(await RUN_TEXTS.read({ id }, 'replyText', context, info)),
  }),
  failure: t.field({
    type: RunError,
    nullable: true,
    description:
      'Why the run failed, as its events have it. Null unless the status is FAILED. Requires the scope CHAT or RUNS.',
    authScopes: { scope: FOLLOW },
    ...STORED_ERROR,
  }),
}));

builder.subscriptionField('runEvents', (t) =>
  t.field({
    type: ChatEvent,
    description:
      'Replays the events of a run after a position, then streams new events until the run finishes. Each event arrives exactly once, across restarts and replicas. Requires the scope CHAT or RUNS. Error: RUN_NOT_FOUND, also if the run belongs to a bot other than `botId`.',
    authScopes: mayFollow,
    args: {
      runId: t.arg.id({ required: true, description: 'ID of the run.' }),
      after: t.arg.int({
        description:
          'The `seq` of the last event received. Defaults to 0, which returns every event.',
        validate: { schema: eventPosition },
      }),
      botId: t.arg.id({ description: BOT_OF_RUN }),
    },
    subscribe: async (_root, { runId, after, botId }, context) => {
      await findFollowed(runId, botId ?? undefined, context);
      return context.replay.read(runId, after ?? 0, context.signal);
    },
    resolve: (event) => event,
  }),
);

builder.queryField('runEventsEnd', (t) =>
  t.int({
    nullable: true,
    description:
      'The `seq` of the last event of a finished run. A client that has received it can stop following. 2147483647 if the run was interrupted or its text was erased: such a client may have received events that are no longer stored. Null while the run is active. Requires the scope CHAT or RUNS. Error: RUN_NOT_FOUND.',
    authScopes: mayFollow,
    args: {
      runId: t.arg.id({ required: true, description: 'ID of the run.' }),
      botId: t.arg.id({ description: BOT_OF_RUN }),
    },
    resolve: async (_root, { runId, botId }, context) => {
      await findFollowed(runId, botId ?? undefined, context);
      return context.replay.endOf(runId);
    },
  }),
);

builder.queryField('followedRun', (t) =>
  t.prismaField({
    type: 'Run',
    nullable: true,
    description:
      'Retrieves a run whose texts were not erased. Requires the scope CHAT or RUNS; the contents of the run require RUNS. Error: RUN_NOT_FOUND.',
    authScopes: mayFollow,
    args: {
      id: t.arg.id({ required: true, description: 'ID of the run.' }),
      botId: t.arg.id({ description: BOT_OF_RUN }),
    },
    resolve: async (query, _root, { id, botId }, context) => {
      await findFollowed(id, botId ?? undefined, context);
      // An erased run has no input.
      const where = { id, input: { not: '' } };
      const find = () => context.prisma.run.findFirst({ ...query, where });
      const run = await retry(find, { limitMs: REQUEST_LIMIT_MS });
      if (run) return run;
      throw notFound('run', id);
    },
  }),
);

builder.mutationField('deleteTurn', (t) =>
  t.boolean({
    description:
      'Deletes the turn of a run: its messages, and the texts of the run. Cancels the run if it is active. The memory stays. Requires the scope CHAT. Errors: RUN_NOT_FOUND, NOT_LAST if the session has later turns, SESSION_BUSY.',
    authScopes: scopeOfBot('CHAT'),
    args: {
      id: t.arg.id({ required: true, description: 'ID of the run.' }),
      botId: t.arg.id({ description: BOT_OF_RUN }),
    },
    resolve: async (_root, { id, botId }, context) => {
      await findFollowed(id, botId ?? undefined, context);
      await context.cancel.cancel(id);
      await context.deleteLastTurn(id, context.signal);
      return true;
    },
  }),
);

builder.mutationField('cancelRun', (t) =>
  t.prismaField({
    type: 'Run',
    description:
      'Cancels a queued or running run and returns it; a finished run is returned unchanged. The run keeps the text generated so far. Requires the scope CHAT or RUNS; the contents of the run require RUNS. Error: RUN_NOT_FOUND.',
    authScopes: mayFollow,
    args: {
      id: t.arg.id({ required: true, description: 'ID of the run.' }),
      botId: t.arg.id({ description: BOT_OF_RUN }),
    },
    resolve: async (query, _root, { id, botId }, context) => {
      await findFollowed(id, botId ?? undefined, context);
      // `findFollowed` limits a session token to the runs of its session.
      if (context.session()) context.openRun(id);
      await context.cancel.cancel(id);
      const find = () => context.prisma.run.findUniqueOrThrow({ ...query, where: { id } });
      return retry(find, { limitMs: REQUEST_LIMIT_MS });
    },
  }),
);
