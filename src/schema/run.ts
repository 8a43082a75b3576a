import { authorizeScope } from '../accounts/caller.ts';
import { visibleBots } from '../bots/visible-bots.ts';
import { notFound } from '../errors/errors.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { entranceOf } from '../runs/record/entrance.ts';
import { MAX_MODEL_NAME, readModelName } from '../runs/record/model-name.ts';
import { readSpans } from '../runs/record/spans.ts';
import { writeCursor } from '../storage/keyset.ts';
import { isJsonObject } from '../text/json.ts';
import { builder } from './builder.ts';
import { longColumns, NULLABLE_TEXT, TEXT } from './long-columns.ts';
import { scopeOfBot, visibleById } from './of-bot.ts';
import { RunError, STORED_ERROR } from './run-error.ts';
import { loadProgress } from './run-progress.ts';
import { demandIn } from './selection.ts';
import {
  ChannelEnum,
  EntranceEnum,
  EnvironmentEnum,
  RunKindEnum,
  RunStatusEnum,
} from './shared.ts';
import { Trace } from './trace.ts';
import { visibleNode } from './visible-node.ts';

const NO_TRACE_ID = '0'.repeat(32);

/** Guards the contents of a run on every path through the schema that reaches it. */
export const MAY_READ = ({ id }: { id: string }) => ({ run: id });
export const RUN_SCOPE =
  'Requires the scope RUNS, except in the response of the operation that started the run.';

export const RUN_TEXTS = longColumns('Run', Prisma.sql`runs`, {
  context: 'context',
  input: 'input',
  response: 'response',
  replyText: 'response',
  output: 'output',
  metadata: 'metadata',
  trace: 'spans',
});

const visibleRun = visibleNode((ids, { prisma, caller }) =>
  prisma.run.findMany({
    where: { id: { in: ids }, bot: visibleBots(caller()) },
    select: { id: true },
  }),
);

builder.prismaNode('Run', {
  description:
    'One execution of a bot. Stored when it is requested, while it runs and when it finishes.',
  id: { resolve: ({ id }) => id, description: 'Unique identifier. Opaque; it never changes.' },
  // Spans are long, so each column is read only when the query selects it.
  select: { id: true },
  nullable: true,
  findUnique: (id, context) => {
    authorizeScope(context.caller(), 'RUNS');
    return visibleRun(id, context);
  },
  fields: (t) => ({
    bot: t.relation('bot', { description: 'The bot that executes the run.' }),
    cursor: t.string({
      description: 'Position of the run in any list of runs, for `after` and `before`.',
      select: { id: true, createdAt: true },
      resolve: ({ id, createdAt }) => writeCursor([createdAt.getTime(), id]),
    }),
    environment: t.expose('environment', {
      type: EnvironmentEnum,
      description: 'Environment in which the run was requested.',
    }),
    kind: t.expose('kind', {
      type: RunKindEnum,
      description: 'Whether the run is a turn of a conversation or a single prompt.',
    }),
    status: t.expose('status', { type: RunStatusEnum, description: 'Status of the run.' }),
    channel: t.expose('channel', {
      type: ChannelEnum,
      description: 'Channel through which the run was requested.',
    }),
    entrance: t.field({
      type: EntranceEnum,
      nullable: true,
      description:
        'Interface through which the client requested the run. A run after a decision on a tool call has the entrance of the run that asked. Null for runs of the channel API from before the entrance was stored.',
      select: { entrance: true, channel: true },
      resolve: entranceOf,
    }),
    user: t.exposeString('sessionId', {
      nullable: true,
      description: 'The end user, identified by the session ID.',
    }),
    sessionId: t.exposeString('sessionId', {
      nullable: true,
      description: 'Session ID of the conversation. Null for a run outside any conversation.',
    }),
    input: t.string({
      description: `Message or prompt sent to the bot. ${RUN_SCOPE}`,
      authScopes: MAY_READ,
      select: { id: true },
      resolve: async (run, _args, context, info) =>
        TEXT.parse(await RUN_TEXTS.read(run, 'input', context, info)),
    }),
    response: t.string({
      nullable: true,
      description: `Text of the reply. For a run that did not complete, the text generated so far. ${RUN_SCOPE}`,
      authScopes: MAY_READ,
      select: { id: true, status: true },
      resolve: async (run, _args, context, info) =>
        run.status === 'RUNNING'
          ? loadProgress(run.id, demandIn(info, context), context, info)
          : NULLABLE_TEXT.parse(await RUN_TEXTS.read(run, 'response', context, info)),
    }),
    output: t.field({
      type: 'JSON',
      nullable: true,
      description: `Structured reply: the JSON object that \`response\` holds as text. Null if none was requested. ${RUN_SCOPE}`,
      authScopes: MAY_READ,
      select: { id: true },
      resolve: async (run, _args, context, info) => {
        const output = await RUN_TEXTS.read(run, 'output', context, info);
        return isJsonObject(output) ? output : null;
      },
    }),
    error: t.field({
      type: RunError,
      nullable: true,
      description: `Why the run failed. Null unless the status is FAILED. ${RUN_SCOPE}`,
      authScopes: MAY_READ,
      ...STORED_ERROR,
    }),
    model: t.string({
      nullable: true,
      description: `Name of the model, at most ${MAX_MODEL_NAME} characters.`,
      select: { model: true },
      // Earlier versions stored the whole name.
      resolve: ({ model }) => model && readModelName(model),
    }),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: `Metadata that the caller attached to the run. ${RUN_SCOPE}`,
      authScopes: MAY_READ,
      select: { id: true },
      resolve: async (run, _args, context, info) => {
        const metadata = await RUN_TEXTS.read(run, 'metadata', context, info);
        return isJsonObject(metadata) ? metadata : null;
      },
    }),
    deploymentId: t.exposeID('deploymentId', {
      nullable: true,
      description: 'ID of `deployment`. Null before a background run starts, and for a draft.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which a worker started the run. Null until then.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the run finished. Null until then.',
    }),
    latencyMs: t.exposeInt('latencyMs', {
      nullable: true,
      description:
        'Time from the request to the end of the run, including the wait for the session, in milliseconds.',
    }),
    promptTokens: t.exposeInt('promptTokens', {
      description: 'Number of tokens in the prompts sent to the model.',
    }),
    completionTokens: t.exposeInt('completionTokens', {
      description: 'Number of tokens that the model generated.',
    }),
    tokensUsed: t.int({
      description: 'Sum of promptTokens and completionTokens.',
      select: { promptTokens: true, completionTokens: true },
      resolve: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
    }),
    tokensEstimated: t.exposeBoolean('tokensEstimated', {
      description:
        'Whether the token counts are estimates, because the model’s server reported none.',
    }),
    cachedTokens: t.exposeInt('cachedTokens', {
      nullable: true,
      description:
        'Number of tokens in the prompts that came from a cache of the model’s server. Null if it reported none.',
    }),
    reasoningTokens: t.exposeInt('reasoningTokens', {
      nullable: true,
      description:
        'Number of generated tokens that are reasoning. Null if the model’s server reported none.',
    }),
    finishReason: t.exposeString('finishReason', {
      nullable: true,
      description:
        'Why the model ended its last answer, as its server says it: `stop`, `length`, `tool_calls`, `content_filter` or another word; `unknown` if the server did not say. Null if the model ended no answer.',
    }),
    toolsCalled: t.exposeStringList('toolsCalled', {
      description:
        'Names of the tools called, as `<group>.<capability>`, in call order without repeats.',
    }),
    trace: t.field({
      type: Trace,
      description: `Trace of the run. ${RUN_SCOPE}`,
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

export const BOT_OF_RUN = 'ID of the bot that the run must belong to. Defaults to any bot.';

builder.queryField('run', (t) =>
  t.prismaField({
    type: 'Run',
    nullable: true,
    description:
      'Retrieves a run. Requires the scope RUNS. Error: RUN_NOT_FOUND, also if the run belongs to a bot other than `botId`.',
    authScopes: scopeOfBot('RUNS'),
    args: {
      id: t.arg.id({ required: true, description: 'ID of the run.' }),
      botId: t.arg.id({ description: BOT_OF_RUN }),
    },
    resolve: async (query, _root, { id, botId }, { caller, prisma }) => {
      const where = visibleById({ id, botId }, caller());
      // Prisma batches concurrent `findUnique` calls, so one id with U+0000 would fail all of them.
      const run = await prisma.run.findFirst({ ...query, where });
      if (run) return run;
      throw notFound('run', id);
    },
  }),
);
