import type { GraphQLResolveInfo } from 'graphql';
import type { RunEvent } from '../runs/record/events.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { ErrorCodeEnum } from './error-code.ts';
import { REPLY_END, ReplyEndObject } from './reply-end.ts';
import { loadToolTexts, readToolArguments, ToolCallStatusEnum } from './tool-call.ts';

const SEQ = 'Position of the event in the run, starting at 1.';
const RUN_ID = 'ID of the run.';
const TOOL = 'Name of the tool, as `<group>.<capability>`.';
const CALL_ID =
  'Identifies the tool call. Its ToolStarted and ToolFinished events carry the same value.';
const LATENCY = 'Time from the request to the end of the run, in milliseconds.';
const TOKENS = 'Sum of prompt and completion tokens.';

const AT = {
  type: 'DateTime',
  nullable: true,
  description:
    "Time of the event, by the database's clock. Null for a run of an earlier Parley version, which stored no times.",
} as const;

function timeOf({ at }: RunEvent): Date | null {
  return at === null ? null : new Date(at);
}

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

const RunStarted = builder.objectRef<EventOf<'RunStarted'>>('RunStarted').implement({
  description:
    'First event of a run. A background run emits it again for each new attempt; discard the text before it.',
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: SEQ }),
    at: t.field({ ...AT, resolve: timeOf }),
    runId: t.exposeID('runId', { description: RUN_ID }),
    run: t.prismaField({
      type: 'Run',
      description: 'The run, as it is stored.',
      resolve: (query, { runId }, _args, { prisma }) =>
        prisma.run.findUniqueOrThrow({ ...query, where: { id: runId } }),
    }),
    sessionId: t.exposeString('sessionId', {
      nullable: true,
      description: 'Session ID of the conversation. Null for a run outside any conversation.',
    }),
  }),
});

const TextDelta = builder.objectRef<EventOf<'TextDelta'>>('TextDelta').implement({
  description: 'A fragment of the reply. The fragments in order form the reply.',
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: SEQ }),
    at: t.field({ ...AT, resolve: timeOf }),
    delta: t.exposeString('delta', { description: 'The fragment of text.' }),
  }),
});

/** Texts of tool calls are for callers with the scope RUNS. Others get null, so that all callers can send one document. */
const TOOL_TEXT_SCOPE =
  'Null without the scope RUNS, if it is not stored, and for a run of version 0.2.';

/** Reads a text of a tool call: from the event itself while the run is active, else from the record of the call. */
async function toolText(
  column: 'arguments' | 'result',
  text: string | undefined,
  recordId: string | undefined,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<string | null> {
  if (context.session() || !context.caller().key.scopes.includes('RUNS')) return null;
  return text ?? (recordId ? loadToolTexts(recordId, column, context, info) : null);
}

const ToolStarted = builder.objectRef<EventOf<'ToolStarted'>>('ToolStarted').implement({
  description: 'A tool call started.',
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: SEQ }),
    at: t.field({ ...AT, resolve: timeOf }),
    name: t.exposeString('name', { description: TOOL }),
    label: t.string({
      nullable: true,
      description:
        'What the visitors of a chat page see of the call, at most 60 characters. Null: they see no call.',
      resolve: ({ label }) => label,
    }),
    callId: t.exposeString('callId', { description: CALL_ID }),
    arguments: t.field({
      type: 'JSON',
      nullable: true,
      description: `Arguments of the call, without values of variables. ${TOOL_TEXT_SCOPE}`,
      resolve: async (event, _args, context, info) => {
        const { recordId } = event;
        const text = await toolText('arguments', event.arguments, recordId, context, info);
        return text === null ? null : readToolArguments(text);
      },
    }),
  }),
});

const ToolFinished = builder.objectRef<EventOf<'ToolFinished'>>('ToolFinished').implement({
  description: 'A tool call finished or failed.',
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: SEQ }),
    at: t.field({ ...AT, resolve: timeOf }),
    name: t.exposeString('name', { description: TOOL }),
    callId: t.exposeString('callId', { description: CALL_ID }),
    status: t.expose('status', {
      type: ToolCallStatusEnum,
      nullable: true,
      description:
        'State of the call. WAITING: a person must approve it. Null for a run of version 0.2.',
    }),
    failed: t.exposeBoolean('failed', {
      description: 'Whether the call failed. The model receives the reason.',
    }),
    durationMs: t.exposeInt('durationMs', { description: 'Duration of the call in milliseconds.' }),
    result: t.string({
      nullable: true,
      description: `What the model got, without values of variables: at most 64 KiB. ${TOOL_TEXT_SCOPE}`,
      resolve: ({ result, recordId }, _args, context, info) =>
        toolText('result', result, recordId, context, info),
    }),
  }),
});

const ChatDone = builder.objectRef<EventOf<'ChatDone'>>('ChatDone').implement({
  description: 'Last event of a completed run. The reply is stored.',
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: SEQ }),
    at: t.field({ ...AT, resolve: timeOf }),
    runId: t.exposeID('runId', { description: RUN_ID }),
    run: t.prismaField({
      type: 'Run',
      description: 'The run, as it is stored.',
      resolve: (query, { runId }, _args, { prisma }) =>
        prisma.run.findUniqueOrThrow({ ...query, where: { id: runId } }),
    }),
    latencyMs: t.exposeInt('latencyMs', { description: LATENCY }),
    tokensUsed: t.exposeInt('tokensUsed', { description: TOKENS }),
    toolsCalled: t.exposeStringList('toolsCalled', {
      description:
        'Names of the tools called, as `<group>.<capability>`, in call order without repeats.',
    }),
    output: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'Structured reply: the JSON object that the text of the reply holds. Null if none was requested.',
      resolve: ({ output }) => output ?? null,
    }),
    end: t.expose('end', { type: ReplyEndObject, description: REPLY_END }),
  }),
});

const ChatFailed = builder.objectRef<EventOf<'ChatFailed'>>('ChatFailed').implement({
  description: 'Last event of a failed run.',
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: SEQ }),
    at: t.field({ ...AT, resolve: timeOf }),
    runId: t.exposeID('runId', { description: RUN_ID }),
    latencyMs: t.exposeInt('latencyMs', { description: LATENCY }),
    code: t.expose('code', { type: ErrorCodeEnum, description: 'Error code.' }),
    message: t.exposeString('message', { description: 'Human-readable explanation.' }),
  }),
});

const ChatCancelled = builder.objectRef<EventOf<'ChatCancelled'>>('ChatCancelled').implement({
  description: 'Last event of a cancelled run. The run keeps the text generated so far.',
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: SEQ }),
    at: t.field({ ...AT, resolve: timeOf }),
    runId: t.exposeID('runId', { description: RUN_ID }),
    latencyMs: t.exposeInt('latencyMs', { description: LATENCY }),
    tokensUsed: t.exposeInt('tokensUsed', { description: TOKENS }),
  }),
});

export const ChatEvent = builder.unionType('ChatEvent', {
  description: 'An event of a run. `seq` numbers the events of a run from 1, without gaps.',
  types: [RunStarted, TextDelta, ToolStarted, ToolFinished, ChatDone, ChatFailed, ChatCancelled],
  resolveType: ({ type }) => type,
});
