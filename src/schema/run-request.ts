import type { SessionGrant } from '../accounts/caller.ts';
import { keyIdOf } from '../accounts/caller.ts';
import { invalidInput } from '../errors/errors.ts';
import type { RunRequest, StartedRun } from '../execution/started-run.ts';
import type { Environment, OnDisconnect } from '../generated/prisma/client.ts';
import { formerNamespaceOf, namespaceOf } from '../idempotency/key.ts';
import { readClientName } from '../runs/trace/client-name.ts';
import type { HistoryMessage } from '../sessions/history.ts';
import { outputSchema } from '../text/input.ts';
import { isJsonObject } from '../text/json.ts';
import { type RequestMessage, requestHistory } from '../text/request-history.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

export const OnDisconnectEnum = builder.enumType('OnDisconnect', {
  description: 'What happens to a run when its last subscriber disconnects.',
  values: {
    CANCEL: { description: 'Cancels the run. The run keeps the text generated so far.' },
    CONTINUE: { description: 'The run continues without a subscriber and is stored.' },
  } as const,
});

export const ON_DISCONNECT =
  'What happens to the run when its last subscriber disconnects. Defaults to CONTINUE with an idempotencyKey, otherwise to CANCEL.';
export const REPLAY_ONLY =
  'Returns the run that has the idempotencyKey and never begins one. Waits while the first request waits for its session. Error: RUN_NOT_FOUND. Defaults to false.';
export const IDEMPOTENCY_KEY =
  'Key that makes retries safe, 1 to 255 visible ASCII characters. For 24 hours, the same request with this key returns the first run, even while it is active; a different request fails with IDEMPOTENCY_CONFLICT.';

const ToolChoiceEnum = builder.enumType('ToolChoice', {
  description: 'Whether the model may call the tools of the bot.',
  values: {
    AUTO: { description: 'The model decides.' },
    NONE: { description: 'The model is offered no tools, and no memory to save to.' },
  } as const,
});

const ToolCallInput = builder.inputType('HistoryToolCallInput', {
  description: 'A tool call of a message in the history of a request.',
  fields: (t) => ({
    id: t.string({
      required: true,
      description: 'Identifies the call within its message. At most 256 characters.',
    }),
    name: t.string({ required: true, description: 'Name of the tool. At most 256 characters.' }),
    arguments: t.string({
      required: true,
      description: 'Arguments of the call: the text of a JSON object.',
    }),
  }),
});

const HistoryRoleEnum = builder.enumType('HistoryRole', {
  description: 'Author of a message in the history of a request.',
  values: {
    USER: { description: 'The end user.' },
    ASSISTANT: { description: 'The bot.' },
    TOOL: { description: 'A tool, with the result of a call.' },
  } as const,
});

const HistoryMessageInput = builder.inputType('HistoryMessageInput', {
  description: 'A message in the history of a request.',
  fields: (t) => ({
    role: t.field({ type: HistoryRoleEnum, required: true, description: 'Author of the message.' }),
    text: t.string({
      description: 'Text of the message. Optional for the role ASSISTANT.',
    }),
    toolCalls: t.field({
      type: [ToolCallInput],
      description:
        'Tool calls of a message of the role ASSISTANT, at most 128. A message of the role TOOL must follow for each.',
    }),
    toolCallId: t.string({
      description: 'The tool call that a message of the role TOOL answers.',
    }),
  }),
});

type InputFields = PothosSchemaTypes.InputFieldBuilder<
  typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Types> ? Types : never,
  'InputObject'
>;

/** The input fields for what a request asks for beyond its message and context. */
export const optionFields = (t: InputFields) => ({
  history: t.field({
    type: [HistoryMessageInput],
    description:
      'Messages to send to the model before the message itself, oldest first: at most 500. Only the size of the body limits their texts. A session token cannot send them.',
    validate: { schema: requestHistory },
  }),
  outputSchema: t.field({
    type: 'JSON',
    description:
      'JSON Schema of an object that the reply must fit, at most 16 KiB, in place of the definition’s `output`. A reply that does not fit after one repair fails with MODEL_ERROR. `pattern`, `format`, `$ref`, `not` and `if` are passed to the model and not checked. A session token cannot send it.',
    validate: { schema: outputSchema },
  }),
  toolChoice: t.field({
    type: ToolChoiceEnum,
    description:
      'Whether the model may call the tools of the bot. Defaults to AUTO. A session token cannot send it.',
  }),
});

/** The input fields that every operation which starts a run has. */
type RunInput = {
  context?: unknown;
  history?: readonly RequestMessage[] | null | undefined;
  outputSchema?: unknown;
  toolChoice?: 'AUTO' | 'NONE' | null | undefined;
  environment?: Environment | null | undefined;
  onDisconnect?: OnDisconnect | null | undefined;
  idempotencyKey?: string | null | undefined;
  replayOnly?: boolean | null | undefined;
};

/** The request that starts a run. @throws GatewayError `invalid_request` for options that do not go together. */
export function requestOf(
  botId: string,
  input: RunInput,
  { caller, session, botVersion, entrance, traceparent, userAgent }: Context,
): RunRequest {
  if (input.replayOnly && input.idempotencyKey == null)
    throw invalidInput([{ path: 'input.idempotencyKey', message: 'is required to replay a run' }]);
  const { id: accountId, plan } = caller().account;
  const channel = session()?.channel ?? 'API';
  return {
    accountId,
    keyId: keyIdOf(caller()),
    plan,
    botId,
    botVersion: botVersion(botId),
    environment: input.environment ?? DEFAULT_ENVIRONMENT,
    channel,
    entrance: channel === 'API' ? entrance : channel,
    context: isJsonObject(input.context) ? input.context : undefined,
    ...optionsOf(input, session()),
    onDisconnect: input.onDisconnect ?? undefined,
    idempotencyKey: input.idempotencyKey ?? undefined,
    replayOnly: input.replayOnly ?? false,
    idempotencyNamespace: namespaceOf(caller(), botId),
    formerIdempotencyNamespace: formerNamespaceOf(caller()),
    traceparent,
    client: readClientName(userAgent),
  };
}

/**
 * A page must not put words into the bot's mouth or into its prompt.
 *
 * @throws GatewayError `invalid_request` if a session token sends an option.
 */
function optionsOf(
  { history, outputSchema, toolChoice }: RunInput,
  session: SessionGrant | undefined,
): Pick<RunRequest, 'history' | 'outputSchema' | 'withoutTools'> {
  const given = Object.entries({ history, outputSchema, toolChoice });
  const names = given.filter(([, value]) => value != null).map(([name]) => name);
  if (names.length === 0) return {};
  if (session) {
    const message = 'is not allowed with a session token';
    throw invalidInput(names.map((name) => ({ path: `input.${name}`, message })));
  }
  return {
    history: history?.length ? history.map(toHistoryMessage) : undefined,
    outputSchema: isJsonObject(outputSchema) ? outputSchema : undefined,
    withoutTools: toolChoice === 'NONE',
  };
}

function toHistoryMessage(message: RequestMessage): HistoryMessage {
  const text = message.text ?? '';
  switch (message.role) {
    case 'USER':
      return { role: 'USER', text };
    case 'ASSISTANT':
      return { role: 'ASSISTANT', text, toolCalls: [...(message.toolCalls ?? [])] };
    case 'TOOL':
      return { role: 'TOOL', text, toolCallId: message.toolCallId ?? '' };
  }
}

/** Reports the run in the response headers and lets the operation read the contents of the run. */
export function answeredBy(run: StartedRun, { setHeader, openRun }: Context): StartedRun {
  openRun(run.id);
  setHeader('X-Run-Id', run.id);
  if (run.isReplayed) setHeader('Idempotency-Replayed', 'true');
  return run;
}
