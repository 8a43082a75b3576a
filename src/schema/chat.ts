import { assertOwnSession, contextOf } from '../accounts/caller.ts';
import { GatewayError } from '../errors.ts';
import { type Reply, type RunRequest, readReply, type StartedRun } from '../execution/start.ts';
import { OnDisconnect } from '../generated/prisma/client.ts';
import { namespaceOf } from '../idempotency/key.ts';
import { chatMessage, idempotencyKey, runMetadata, sessionId } from '../input.ts';
import { isJsonObject, jsonObject } from '../json.ts';
import { asQueued } from '../runs/queue.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';
import { builder } from './builder.ts';
import { ChatEvent } from './chat-event.ts';
import type { Context } from './context.ts';
import { EnvironmentEnum } from './shared.ts';

const OnBusyEnum = builder.enumType('OnBusy', {
  description: 'What becomes of a message to a session that is busy with another one.',
  values: {
    ENQUEUE: { description: 'It waits: 16 at most, 60 seconds at most.' },
    REJECT: { description: 'It is refused with SESSION_BUSY at once.' },
  } as const,
});

const OnDisconnectEnum = builder.enumType(OnDisconnect, {
  name: 'OnDisconnect',
  description: 'What becomes of a run whose last listener leaves.',
});

const ON_DISCONNECT =
  'What becomes of the run when its last listener leaves. CANCEL by default; CONTINUE where there is an idempotencyKey.';
const IDEMPOTENCY_KEY =
  'The same request with the same key is answered by the first one’s run, for 24 hours, also while that is under way; another one is refused with IDEMPOTENCY_CONFLICT. 1 to 255 visible ASCII characters.';

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
      description:
        'An object whose keys and values reach the model. With a session token, only where the token allows it.',
      validate: { schema: jsonObject },
    }),
    environment: t.field({ type: EnvironmentEnum, description: 'PRODUCTION by default.' }),
    onBusy: t.field({ type: OnBusyEnum, description: 'ENQUEUE by default.' }),
    onDisconnect: t.field({ type: OnDisconnectEnum, description: ON_DISCONNECT }),
    idempotencyKey: t.string({
      description: IDEMPOTENCY_KEY,
      validate: { schema: idempotencyKey },
    }),
  }),
});

const ExecuteInput = builder.inputType('ExecuteInput', {
  description: 'A prompt outside of any conversation: without history, and without memory.',
  fields: (t) => ({
    prompt: t.string({ required: true, validate: { schema: chatMessage } }),
    context: t.field({
      type: 'JSON',
      description: 'An object whose keys and values the model is told.',
      validate: { schema: jsonObject },
    }),
    environment: t.field({ type: EnvironmentEnum, description: 'PRODUCTION by default.' }),
    background: t.boolean({
      description:
        'Answers at once with the run, QUEUED. The deployment that is active when the run begins does it, whether or not anybody listens: onDisconnect has no effect. If its server dies, the run begins again after a delay, in at most 3 attempts. RATE_LIMIT_EXCEEDED when as many background runs of the account wait as its plan allows.',
    }),
    metadata: t.field({
      type: 'JSON',
      description:
        "An object of the caller's own of at most 64 KiB, stored with the run, which the model is not told.",
      validate: { schema: runMetadata },
    }),
    onDisconnect: t.field({ type: OnDisconnectEnum, description: ON_DISCONNECT }),
    idempotencyKey: t.string({
      description: IDEMPOTENCY_KEY,
      validate: { schema: idempotencyKey },
    }),
  }),
});

const executeArguments = builder.args((t) => ({
  botId: t.id({ required: true }),
  input: t.field({ type: ExecuteInput, required: true }),
}));

const chatArguments = builder.args((t) => ({
  botId: t.id({ required: true }),
  input: t.field({ type: ChatInput, required: true }),
}));

const ChatReplyObject = builder.objectRef<Reply & { sessionId: string }>('ChatReply').implement({
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

builder.mutationField('chat', (t) =>
  t.field({
    type: ChatReplyObject,
    description:
      'Sends a message to a bot and answers when the reply is whole. Scope CHAT. Errors: BOT_NOT_DEPLOYED, SESSION_BUSY, IDEMPOTENCY_CONFLICT, RATE_LIMIT_EXCEEDED when the account has as many active runs as its plan allows, MODEL_ERROR, MODEL_TIMEOUT (the last two with extensions.runId).',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: chatArguments,
    resolve: async (_root, { botId, input }, context) => {
      const start = () => startChat(botId, input, context);
      const reply = await readReply(start, context.signal, (run) => answeredBy(run, context));
      return { ...reply, sessionId: reply.sessionId ?? '' };
    },
  }),
);

builder.subscriptionField('chat', (t) =>
  t.field({
    type: ChatEvent,
    description:
      'Sends a message to a bot and streams the reply. Unsubscribing stops the run, unless onDisconnect says otherwise. A client that reconnects by itself sends an idempotencyKey, and so joins its own run, or goes on with runEvents. Scope CHAT.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: chatArguments,
    subscribe: async (_root, { botId, input }, context) =>
      answeredBy(await startChat(botId, input, context), context).read(context.signal),
    resolve: (event) => event,
  }),
);

builder.mutationField('execute', (t) =>
  t.prismaField({
    type: 'Run',
    description:
      'Runs a bot with a prompt by itself, and answers when the run is over; at once where it is to go on in the background. Scope CHAT. Errors: BOT_NOT_DEPLOYED, IDEMPOTENCY_CONFLICT, RATE_LIMIT_EXCEEDED when the account has as many active runs as its plan allows, MODEL_ERROR, MODEL_TIMEOUT (the last two with extensions.runId).',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: executeArguments,
    resolve: async (query, _root, { botId, input }, context) => {
      const { prisma, signal } = context;
      const start = () => startExecute(botId, input, context);
      const find = (id: string) => prisma.run.findUniqueOrThrow({ ...query, where: { id } });
      const options = { limitMs: REQUEST_LIMIT_MS, signal };
      if (!input.background) {
        const { runId } = await readReply(start, signal, (run) => answeredBy(run, context));
        return retry(() => find(runId), options);
      }
      const run = answeredBy(await start(), context);
      const row = await retry(() => find(run.id), options);
      // Whoever takes it up may have been quicker than the answer, which says what was done here.
      return run.isReplayed ? row : { ...row, ...asQueued(context) };
    },
  }),
);

builder.subscriptionField('execute', (t) =>
  t.field({
    type: ChatEvent,
    description:
      'The same, streamed; a run in the background is followed by runEvents instead. Scope CHAT.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: executeArguments,
    subscribe: async (_root, { botId, input }, context) => {
      if (input.background) throw notStreamed();
      return answeredBy(await startExecute(botId, input, context), context).read(context.signal);
    },
    resolve: (event) => event,
  }),
);

async function startChat(
  botId: string,
  { message, sessionId, onBusy, ...input }: typeof ChatInput.$inferInput,
  context: Context,
) {
  const session = context.session();
  const environment = input.environment ?? session?.environment;
  if (session) assertOwnSession(session, sessionId, environment);
  const sent = isJsonObject(input.context) ? input.context : undefined;
  const request = {
    ...requestOf(botId, { ...input, environment, context: contextOf(session, sent) }, context),
    message,
    sessionId: sessionId ?? session?.sessionId,
    onBusy: onBusy ?? undefined,
  };
  return context.chat.start(request, context.signal);
}

async function startExecute(
  botId: string,
  { prompt, metadata, background, ...input }: typeof ExecuteInput.$inferInput,
  context: Context,
) {
  const request = {
    ...requestOf(botId, input, context),
    prompt,
    metadata: isJsonObject(metadata) ? metadata : undefined,
    background: background ?? false,
  };
  return context.execute.start(request, context.signal);
}

function notStreamed(): GatewayError {
  const message =
    'A run in the background is not streamed: begin it by the mutation, then follow it by runEvents.';
  const details = [{ path: 'input.background', message }];
  return new GatewayError('invalid_request', message, { details });
}

/** What chats and executes have in common. */
function requestOf(
  botId: string,
  input: Pick<
    typeof ChatInput.$inferInput,
    'context' | 'environment' | 'onDisconnect' | 'idempotencyKey'
  >,
  { caller, botVersion, traceparent }: Context,
): RunRequest {
  const { id: accountId, plan } = caller().account;
  return {
    accountId,
    plan,
    botId,
    botVersion: botVersion(botId),
    environment: input.environment ?? 'PRODUCTION',
    channel: 'API',
    context: isJsonObject(input.context) ? input.context : undefined,
    onDisconnect: input.onDisconnect ?? undefined,
    idempotencyKey: input.idempotencyKey ?? undefined,
    idempotencyNamespace: namespaceOf(caller(), botId),
    traceparent,
  };
}

/** Tells the client which run answers it, and whether that is an earlier one; the operation may read all of it. */
function answeredBy(run: StartedRun, { setHeader, openRun }: Context): StartedRun {
  openRun(run.id);
  setHeader('X-Run-Id', run.id);
  if (run.isReplayed) setHeader('Idempotency-Replayed', 'true');
  return run;
}
