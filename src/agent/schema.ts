import { chatMessage, sessionId } from '../input.ts';
import { isJsonObject, jsonObject } from '../json.ts';
import type { RunEvent } from '../runs/events.ts';
import { builder } from '../schema/builder.ts';
import type { Context } from '../schema/context.ts';
import { EnvironmentEnum } from '../schema/shared.ts';
import type { ChatReply } from './chat.ts';

const ChatInput = builder.inputType('ChatInput', {
  description: 'One message to a bot.',
  fields: (t) => ({
    message: t.string({
      required: true,
      description: "The user's message.",
      validate: { schema: chatMessage },
    }),
    sessionId: t.string({
      description:
        'Stable and unique for each end user, 1 to 256 visible characters: two users who share one share their memories. A new one is made where it is left out.',
      validate: { schema: sessionId },
    }),
    context: t.field({
      type: 'JSON',
      description: 'An object whose keys and values the model is told.',
      validate: { schema: jsonObject },
    }),
    environment: t.field({ type: EnvironmentEnum, description: 'PRODUCTION by default.' }),
  }),
});

const chatArguments = builder.args((t) => ({
  botId: t.id({ required: true }),
  input: t.field({ type: ChatInput, required: true }),
}));

const ChatReplyObject = builder.objectRef<ChatReply>('ChatReply').implement({
  description: "A bot's reply, stored.",
  fields: (t) => ({
    response: t.exposeString('response'),
    sessionId: t.exposeString('sessionId'),
    run: t.prismaField({
      type: 'Run',
      resolve: (query, { runId }, _args, { prisma }) =>
        prisma.run.findUniqueOrThrow({ ...query, where: { id: runId } }),
    }),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs', {
      description:
        'Milliseconds from taking the message, waiting for the turn included, to the end of the reply.',
    }),
    tokensUsed: t.exposeInt('tokensUsed', { description: 'Prompt and completion together.' }),
    toolsCalled: t.exposeStringList('toolsCalled', {
      description: 'In call order, without repeats: <group>.<capability>.',
    }),
  }),
});

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

const RunStarted = builder.objectRef<EventOf<'RunStarted'>>('RunStarted').implement({
  description: 'The first event of every run.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    sessionId: t.exposeString('sessionId', { nullable: true }),
  }),
});

const TextDelta = builder.objectRef<EventOf<'TextDelta'>>('TextDelta').implement({
  description: 'A fragment of the reply; all of them in order are the reply.',
  fields: (t) => ({ seq: t.exposeInt('seq'), delta: t.exposeString('delta') }),
});

const ToolStarted = builder.objectRef<EventOf<'ToolStarted'>>('ToolStarted').implement({
  description: 'A tool is called.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    name: t.exposeString('name', { description: '<group>.<capability>' }),
    callId: t.exposeString('callId'),
  }),
});

const ToolFinished = builder.objectRef<EventOf<'ToolFinished'>>('ToolFinished').implement({
  description: 'A tool has answered, or failed.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    name: t.exposeString('name'),
    callId: t.exposeString('callId'),
    failed: t.exposeBoolean('failed'),
    durationMs: t.exposeInt('durationMs'),
  }),
});

const ChatDone = builder.objectRef<EventOf<'ChatDone'>>('ChatDone').implement({
  description: 'The last event of a run that came to its end. It is stored.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs'),
    tokensUsed: t.exposeInt('tokensUsed'),
    toolsCalled: t.exposeStringList('toolsCalled'),
  }),
});

const ChatFailed = builder.objectRef<EventOf<'ChatFailed'>>('ChatFailed').implement({
  description: 'The last event of a run that failed.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs'),
    code: t.string({ resolve: ({ code }) => code.toUpperCase() }),
    message: t.exposeString('message'),
  }),
});

const ChatCancelled = builder.objectRef<EventOf<'ChatCancelled'>>('ChatCancelled').implement({
  description: 'The last event of a run that was stopped. What was said until then is kept.',
  fields: (t) => ({
    seq: t.exposeInt('seq'),
    runId: t.exposeID('runId'),
    latencyMs: t.exposeInt('latencyMs'),
    tokensUsed: t.exposeInt('tokensUsed'),
  }),
});

const ChatEvent = builder.unionType('ChatEvent', {
  description: 'What happens in a run. `seq` counts the events of a run from 1, without gaps.',
  types: [RunStarted, TextDelta, ToolStarted, ToolFinished, ChatDone, ChatFailed, ChatCancelled],
  resolveType: ({ type }) => type,
});

builder.mutationField('chat', (t) =>
  t.field({
    type: ChatReplyObject,
    description:
      'Sends a message to a bot and answers when the reply is whole. Scope CHAT. Errors: BOT_NOT_DEPLOYED, SESSION_BUSY, MODEL_ERROR, MODEL_TIMEOUT (the last two with extensions.runId).',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: chatArguments,
    resolve: async (_root, { botId, input }, context) =>
      context.chat.finish(await startChat(botId, input, context), context.signal),
  }),
);

builder.subscriptionField('chat', (t) =>
  t.field({
    type: ChatEvent,
    description:
      'Sends a message to a bot and streams the reply. Unsubscribing stops the run. Scope CHAT.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: chatArguments,
    subscribe: async (_root, { botId, input }, context) =>
      (await startChat(botId, input, context)).read(context.signal),
    resolve: (event) => event,
  }),
);

async function startChat(
  botId: string,
  { message, sessionId, context, environment }: typeof ChatInput.$inferInput,
  { chat, signal, setHeader }: Context,
) {
  const live = await chat.start(
    {
      botId,
      environment: environment ?? 'PRODUCTION',
      channel: 'API',
      message,
      sessionId: sessionId ?? undefined,
      context: isJsonObject(context) ? context : undefined,
    },
    signal,
  );
  setHeader('X-Run-Id', live.id);
  return live;
}
