import { z } from 'zod';
import { authorizeScope } from '../accounts/caller.ts';
import { visibleBots } from '../bots/bots.ts';
import { GatewayError } from '../errors.ts';
import { eventPosition } from '../input.ts';
import { isJsonObject } from '../json.ts';
import { readSpans } from '../runs/spans.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';
import { builder } from './builder.ts';
import { ChatEvent } from './chat-event.ts';
import type { Context } from './context.ts';
import { seenBy } from './nodes.ts';
import { ChannelEnum, EnvironmentEnum, RunKindEnum, RunStatusEnum } from './shared.ts';
import { RUN_TEXTS } from './texts.ts';

const RunError = builder.simpleObject('RunError', {
  description: 'Why a run failed.',
  fields: (t) => ({
    code: t.string({ description: 'One of the codes of errors, in capitals.' }),
    message: t.string(),
  }),
});

const Span = builder.simpleObject('Span', {
  description: 'One part of a run, after OpenTelemetry.',
  fields: (t) => ({
    spanId: t.string({ description: '16 hex digits.' }),
    parentId: t.string({
      nullable: true,
      description:
        'The span that this is a part of; of the first one the caller’s own, where it sent a traceparent.',
    }),
    name: t.string(),
    startedAt: t.field({ type: 'DateTime' }),
    durationMs: t.float(),
    status: t.string({ description: 'unset, ok or error. What went well is left unset.' }),
    attributes: t.field({
      type: 'JSON',
      description:
        'Named after OpenTelemetry’s conventions for generative AI, or parley.*: names and counts, never what was said.',
    }),
  }),
});

const Trace = builder.simpleObject('Trace', {
  description: 'How a run went, step by step.',
  fields: (t) => ({
    traceId: t.string({
      description:
        '32 hex digits: the caller’s own, where it sent a traceparent. Zeros where there is none.',
    }),
    spans: t.field({
      type: [Span],
      description:
        'In the order in which they began, the run’s own first; none before the run has ended. Where it was interrupted, as far as they were stored.',
    }),
  }),
});

const NO_TRACE_ID = '0'.repeat(32);

/** For the fields that hold a run's data, whichever way leads to the run. */
const MAY_READ = ({ id }: { id: string }) => ({ run: id });
const SCOPE = 'Scope RUNS, but in the answer of the operation that began the run.';

const seenRun = seenBy((ids, { prisma, caller }) =>
  prisma.run.findMany({
    where: { id: { in: ids }, bot: visibleBots(caller()) },
    select: { id: true },
  }),
);

builder.prismaNode('Run', {
  description: 'One piece of work of a bot, stored before it begins and when it ends.',
  id: { resolve: ({ id }) => id },
  // Columns are read as they are asked for: the spans of a run are long.
  select: { id: true },
  nullable: true,
  findUnique: (id, context) => {
    authorizeScope(context.caller(), 'RUNS');
    return seenRun(id, context);
  },
  fields: (t) => ({
    bot: t.relation('bot'),
    environment: t.expose('environment', { type: EnvironmentEnum }),
    kind: t.expose('kind', { type: RunKindEnum }),
    status: t.expose('status', { type: RunStatusEnum }),
    channel: t.expose('channel', { type: ChannelEnum }),
    user: t.exposeString('sessionId', {
      nullable: true,
      description: 'The end user: the session id.',
    }),
    sessionId: t.exposeString('sessionId', { nullable: true }),
    input: t.string({
      description: `What the bot was told. ${SCOPE}`,
      authScopes: MAY_READ,
      select: { id: true },
      resolve: async (run, _args, context, info) =>
        z.string().parse(await RUN_TEXTS.read(run, 'input', context, info)),
    }),
    response: t.string({
      nullable: true,
      description: `What it said; of a run that was cut short, so much as it had said. ${SCOPE}`,
      authScopes: MAY_READ,
      select: { id: true },
      resolve: async (run, _args, context, info) =>
        z
          .string()
          .nullish()
          .parse(await RUN_TEXTS.read(run, 'response', context, info)),
    }),
    error: t.field({
      type: RunError,
      nullable: true,
      description: `Why it failed; null where it did not. ${SCOPE}`,
      authScopes: MAY_READ,
      select: { errorCode: true, errorMessage: true },
      resolve: ({ errorCode, errorMessage }) =>
        errorCode === null ? null : { code: errorCode.toUpperCase(), message: errorMessage ?? '' },
    }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'The name of the model that was asked.',
    }),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: `What the caller noted of it. ${SCOPE}`,
      authScopes: MAY_READ,
      select: { id: true },
      resolve: async (run, _args, context, info) => {
        const metadata = await RUN_TEXTS.read(run, 'metadata', context, info);
        return isJsonObject(metadata) ? metadata : null;
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true }),
    latencyMs: t.exposeInt('latencyMs', {
      nullable: true,
      description:
        'Milliseconds from taking the message, waiting for the turn included, to the end of the run.',
    }),
    promptTokens: t.exposeInt('promptTokens'),
    completionTokens: t.exposeInt('completionTokens'),
    tokensUsed: t.int({
      description: 'promptTokens and completionTokens together.',
      select: { promptTokens: true, completionTokens: true },
      resolve: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
    }),
    tokensEstimated: t.exposeBoolean('tokensEstimated', {
      description: 'Whether the model’s server did not say, so that they are an estimate.',
    }),
    toolsCalled: t.exposeStringList('toolsCalled', {
      description: 'In call order, without repeats: <group>.<capability>.',
    }),
    trace: t.field({
      type: Trace,
      description: `How it went, step by step. ${SCOPE}`,
      authScopes: MAY_READ,
      select: { id: true, traceId: true, finishedAt: true },
      resolve: async (run, _args, context, info) => {
        const spans = await RUN_TEXTS.read(run, 'trace', context, info);
        return {
          traceId: run.traceId ?? NO_TRACE_ID,
          spans: readSpans(run.finishedAt && spans).map(({ startedAt, ...span }) => ({
            ...span,
            startedAt: new Date(startedAt),
          })),
        };
      },
    }),
  }),
});

builder.queryField('run', (t) =>
  t.prismaField({
    type: 'Run',
    nullable: true,
    description:
      "One run. RUN_NOT_FOUND also where it is another bot's than the one named. Scope RUNS.",
    authScopes: (_root, { botId }) =>
      botId ? { bot: { id: botId, scope: 'RUNS' } } : { scope: 'RUNS' },
    args: { id: t.arg.id({ required: true }), botId: t.arg.id() },
    resolve: async (query, _root, { id, botId }, { caller, prisma }) => {
      const where = { id, botId: botId ?? undefined, bot: visibleBots(caller()) };
      // Not `findUnique`: those of one moment go together, and an id with U+0000 would fail them all.
      const run = await prisma.run.findFirst({ ...query, where });
      if (run) return run;
      throw new GatewayError('run_not_found', `There is no run "${id}".`);
    },
  }),
);

/** The scopes of which any will do to follow and to stop a run: those who talk, and those who watch. */
const FOLLOW = ['CHAT', 'RUNS'] as const;

/** @throws GatewayError where there is no such run that this key may follow. */
async function findFollowed(id: string, botId: string | undefined, context: Context) {
  const { caller, prisma } = context;
  const { sessionId, environment } = context.session() ?? {};
  const where = { id, botId, sessionId, environment, bot: visibleBots(caller()) };
  // As above, not `findUnique`.
  const run = await prisma.run.findFirst({ where, select: { id: true } });
  if (run === null) throw new GatewayError('run_not_found', `There is no run "${id}".`);
}

builder.subscriptionField('runEvents', (t) =>
  t.field({
    type: ChatEvent,
    description:
      'All events of a run behind a position, then those that follow, until it ends: nothing lost, nothing twice, over restarts and replicas. Scope CHAT or RUNS. Error: RUN_NOT_FOUND, also where it is another bot’s than the one named.',
    authScopes: (_root, { botId }) =>
      botId ? { bot: { id: botId, scope: FOLLOW } } : { scope: FOLLOW },
    args: {
      runId: t.arg.id({ required: true }),
      after: t.arg.int({
        description: 'The seq of the last event that the client has. 0 by default: all.',
        validate: { schema: eventPosition },
      }),
      botId: t.arg.id(),
    },
    subscribe: async (_root, { runId, after, botId }, context) => {
      await findFollowed(runId, botId ?? undefined, context);
      return context.replay.read(runId, after ?? 0, context.signal);
    },
    resolve: (event) => event,
  }),
);

builder.mutationField('cancelRun', (t) =>
  t.prismaField({
    type: 'Run',
    description:
      'Stops a run that is queued or at work, and answers it as it is then; one that is over stays as it is. What was said until then is kept. Scope CHAT or RUNS; what the run holds needs RUNS. Error: RUN_NOT_FOUND.',
    authScopes: (_root, { botId }) =>
      botId ? { bot: { id: botId, scope: FOLLOW } } : { scope: FOLLOW },
    args: { id: t.arg.id({ required: true }), botId: t.arg.id() },
    resolve: async (query, _root, { id, botId }, context) => {
      await findFollowed(id, botId ?? undefined, context);
      // A token finds the runs of its own session alone.
      if (context.session()) context.openRun(id);
      await context.cancel.cancel(id);
      const find = () => context.prisma.run.findUniqueOrThrow({ ...query, where: { id } });
      return retry(find, { limitMs: REQUEST_LIMIT_MS });
    },
  }),
);
