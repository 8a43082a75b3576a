import { GatewayError, invalidInput } from '../errors/errors.ts';
import { readReply } from '../execution/reply.ts';
import { asQueued } from '../runs/queue/as-queued.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';
import { chatMessage, idempotencyKey, runMetadata } from '../text/input.ts';
import { isJsonObject, jsonObject } from '../text/json.ts';
import { builder } from './builder.ts';
import { ChatEvent } from './chat-event.ts';
import type { Context } from './context.ts';
import {
  answeredBy,
  IDEMPOTENCY_KEY,
  ON_DISCONNECT,
  OnDisconnectEnum,
  optionFields,
  REPLAY_ONLY,
  requestOf,
} from './run-request.ts';
import { EnvironmentEnum } from './shared.ts';

const ExecuteInput = builder.inputType('ExecuteInput', {
  description: 'Parameters of a single prompt. The run uses no session, and no memory.',
  fields: (t) => ({
    prompt: t.string({
      required: true,
      description: 'The prompt for the bot.',
      validate: { schema: chatMessage },
    }),
    context: t.field({
      type: 'JSON',
      description:
        'JSON object that is passed to the model, with at most 10,000 members and entries.',
      validate: { schema: jsonObject },
    }),
    environment: t.field({
      type: EnvironmentEnum,
      description: 'Environment of the bot. Defaults to PRODUCTION.',
    }),
    background: t.boolean({
      description:
        'Queues the run and returns immediately with the status QUEUED; onDisconnect has no effect. The run uses the deployment that is active when it starts, and is retried if its server fails, in at most 3 attempts. Fails with RATE_LIMIT_EXCEEDED if the account’s queue is full.',
    }),
    metadata: t.field({
      type: 'JSON',
      description:
        'JSON object of at most 64 KiB to store with the run. It is not passed to the model.',
      validate: { schema: runMetadata },
    }),
    ...optionFields(t),
    onDisconnect: t.field({ type: OnDisconnectEnum, description: ON_DISCONNECT }),
    idempotencyKey: t.string({
      description: IDEMPOTENCY_KEY,
      validate: { schema: idempotencyKey },
    }),
    replayOnly: t.boolean({ description: REPLAY_ONLY }),
  }),
});

const executeArguments = builder.args((t) => ({
  botId: t.id({ required: true, description: 'ID of the bot.' }),
  input: t.field({ type: ExecuteInput, required: true, description: 'Parameters of the prompt.' }),
}));

builder.mutationField('execute', (t) =>
  t.prismaField({
    type: 'Run',
    description:
      'Runs a single prompt and returns the finished run, or the queued run if background is true. Requires the scope CHAT. Errors: BOT_NOT_DEPLOYED, IDEMPOTENCY_CONFLICT, RATE_LIMIT_EXCEEDED (also at the plan’s limit of active runs), MODEL_ERROR, MODEL_TIMEOUT and CONTENT_FILTERED (all with `extensions.runId`).',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: executeArguments,
    resolve: async (query, _root, { botId, input }, context) => {
      const { prisma, signal } = context;
      const start = () => startExecute(botId, input, context);
      const find = (id: string) => prisma.run.findUniqueOrThrow({ ...query, where: { id } });
      const options = { limitMs: REQUEST_LIMIT_MS, signal };
      if (!input.background) {
        const { run, end } = await readReply(start, signal);
        answeredBy(run, context);
        if (end instanceof GatewayError) throw end;
        return retry(() => find(run.id), options);
      }
      const run = answeredBy(await start(), context);
      const row = await retry(() => find(run.id), options);
      // A worker may already have started the run; the response still reports it as queued.
      return run.isReplayed ? row : { ...row, ...asQueued(context) };
    },
  }),
);

builder.subscriptionField('execute', (t) =>
  t.field({
    type: ChatEvent,
    description:
      'Runs a single prompt and streams the reply. Use runEvents to follow a background run. Requires the scope CHAT.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'CHAT' } }),
    args: executeArguments,
    subscribe: async (_root, { botId, input }, context) => {
      if (input.background) throw notStreamed();
      return answeredBy(await startExecute(botId, input, context), context).read(context.signal);
    },
    resolve: (event) => event,
  }),
);

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
  return context.startExecute(request, context.signal);
}

function notStreamed(): GatewayError {
  const message =
    'Background runs cannot be streamed. Start the run with the execute mutation, then follow it with runEvents.';
  return invalidInput([{ path: 'input.background', message }], message);
}
