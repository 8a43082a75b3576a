import type { z } from 'zod';
import { type ErrorDetail, invalidInput, problemsOf } from '../../errors/errors.ts';
import type {
  ChatInput,
  CompletionEndFragment,
  ExecuteInput,
} from '../../generated/operations/openai.ts';
import { outputSchema, sessionId } from '../../text/input.ts';
import { isJsonObject, type JsonObject } from '../../text/json.ts';
import type { Wire } from '../rest/shape.ts';
import type { Completion, CompletionBody } from './completion-wire.ts';
import { type Conversation, readConversation } from './conversation.ts';
import { type ModelName, toUnixTime } from './model-wire.ts';
import { assertSupported, type runHeaders } from './openai-wire.ts';

/** A validated request for a completion. */
type Request = { headers: z.output<typeof runHeaders>; body: CompletionBody };

/** What the response repeats of its request. */
export type AskedCompletion = { model: string; includesUsage: boolean };

/** @throws GatewayError `unsupported_parameter`, `unsupported_content` or `invalid_request` */
export function toExecution(request: Request) {
  const { common, conversation } = readRequest(request);
  const { message: prompt, history } = conversation;
  const input: ExecuteInput = { ...common, prompt, history, metadata: request.body.metadata };
  return answer(request, input);
}

/** As `toExecution`, for a request that names a session, whose own history is used. */
export function toTurn(request: Request) {
  const { headers, body } = request;
  const { common, conversation } = readRequest(request);
  const inMetadata = body.metadata?.session_id;
  const inHeader = headers['x-session-id'];
  if (inMetadata != null && inHeader !== undefined && inMetadata !== inHeader) {
    const message = 'must be the same as the header X-Session-ID';
    throw invalidInput([{ path: 'metadata.session_id', message }]);
  }
  const sessionId = inHeader ?? readSessionId(inMetadata);
  const { message } = conversation;
  const input: ChatInput = { ...common, message, sessionId, onBusy: headers['x-on-busy'] };
  return answer(request, input);
}

function readSessionId(id: unknown): string {
  const { data, error } = sessionId.safeParse(id);
  if (error) {
    const problems = problemsOf(error);
    throw invalidInput(problems.map(({ message }) => ({ path: 'metadata.session_id', message })));
  }
  return data;
}

function answer<Input>({ body }: Request, input: Input) {
  const { model, stream, stream_options } = body;
  const asked: AskedCompletion = {
    model: model.name,
    includesUsage: stream_options?.include_usage ?? false,
  };
  return { variables: { botId: model.botId, input }, stream: stream ?? false, asked };
}

/** @throws GatewayError `invalid_request` if the model and a header name different environments. */
export function readOptions({ headers, model }: { headers: Request['headers']; model: ModelName }) {
  const environment = model.environment ?? headers['x-environment'];
  if (headers['x-environment'] !== undefined && headers['x-environment'] !== environment) {
    const message = 'must name the environment of the header X-Environment';
    throw invalidInput([{ path: 'model', message }]);
  }
  return {
    environment,
    onDisconnect: headers['x-on-disconnect'],
    idempotencyKey: headers['idempotency-key'],
  };
}

function readRequest({ headers, body }: Request) {
  const { tool_choice, function_call, response_format, model } = body;
  assertSupported(unsupportedIn(body));
  const conversation = readConversation(body.messages, 'messages');
  const isWithoutTools = (tool_choice ?? function_call) === 'none';
  const common = {
    ...readOptions({ headers, model }),
    context: contextOf(body.context, conversation),
    outputSchema: readFormat(response_format),
    toolChoice: isWithoutTools ? ('NONE' as const) : undefined,
  };
  return { common, conversation };
}

export const TOOLS = 'the tools of a bot run on the server: deploy them with its definition';

function unsupportedIn(body: CompletionBody): ErrorDetail[] {
  const { n, tools, functions, tool_choice, function_call } = body;
  const { logprobs, modalities, audio, prediction } = body;
  const problems: (ErrorDetail | false)[] = [
    isList(tools) && { path: 'tools', message: TOOLS },
    isList(functions) && { path: 'functions', message: TOOLS },
    !isChoice(tool_choice) && { path: 'tool_choice', message: 'must be "auto" or "none"' },
    !isChoice(function_call) && { path: 'function_call', message: 'must be "auto" or "none"' },
    n != null && n !== 1 && { path: 'n', message: 'must be 1' },
    logprobs != null && logprobs !== false && { path: 'logprobs', message: 'must be false' },
    !isText(modalities) && { path: 'modalities', message: 'must be ["text"]' },
    audio != null && { path: 'audio', message: 'is not supported: a bot answers with text' },
    prediction != null && { path: 'prediction', message: 'is not supported' },
  ];
  return problems.filter((problem) => problem !== false);
}

/** Whether a list, or what stands in its place, asks for something. */
export function isList(value: unknown): boolean {
  return value != null && !(Array.isArray(value) && value.length === 0);
}

export function isChoice(choice: unknown): boolean {
  return choice == null || choice === 'auto' || choice === 'none';
}

function isText(modalities: unknown): boolean {
  return (
    modalities == null || (Array.isArray(modalities) && modalities.every((one) => one === 'text'))
  );
}

/** @throws GatewayError `invalid_request` if both give instructions. */
export function contextOf(
  context: JsonObject | null | undefined,
  { instructions }: Pick<Conversation, 'instructions'>,
): JsonObject | undefined {
  if (instructions.length === 0) return context ?? undefined;
  if (context && Object.hasOwn(context, 'instructions')) {
    const message = 'must be absent beside messages of the system';
    throw invalidInput([{ path: 'context.instructions', message }]);
  }
  return { ...context, instructions };
}

/** @throws GatewayError `invalid_request` for a schema that is not of an object, or too large. */
function readFormat(format: CompletionBody['response_format']): JsonObject | undefined {
  switch (format?.type) {
    case 'json_object':
      return { type: 'object' };
    case 'json_schema':
      return readOutputSchema(format.json_schema.schema, 'response_format.json_schema.schema');
    default:
      return undefined;
  }
}

/** @throws GatewayError `invalid_request` for a schema that is not of an object, or too large. */
export function readOutputSchema(schema: unknown, path: string): JsonObject {
  const { data, error } = outputSchema.safeParse(schema);
  if (data) return data;
  const problems = problemsOf(error);
  throw invalidInput(problems.map(({ message }) => ({ path, message })));
}

/** A completed run with its reply. */
type Completed = {
  runId: string;
  startedAt: Date | null | undefined;
  response: string | null | undefined;
  end: CompletionEndFragment;
};

/** The completion of a completed run. */
export function toCompletion(
  { runId, startedAt, response, end }: Completed,
  { model }: AskedCompletion,
): Completion {
  return {
    id: runId,
    object: 'chat.completion',
    created: toUnixTime(startedAt ?? new Date()),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: response ?? '', refusal: null },
        logprobs: null,
        finish_reason: toFinishReason(end),
      },
    ],
    usage: toUsage(end),
    system_fingerprint: end.deploymentId ?? '',
  };
}

export function toFinishReason({ finishReason }: Pick<CompletionEndFragment, 'finishReason'>) {
  return finishReason === 'length' || finishReason === 'content_filter' ? finishReason : 'stop';
}

export function toUsage(end: CompletionEndFragment): Completion['usage'] {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = end;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
  };
}

/** Whether a request is a turn of a session. */
export function namesSession({ headers, body }: Wire): boolean {
  const { metadata } = isJsonObject(body) ? body : {};
  const isInMetadata = isJsonObject(metadata) && metadata.session_id != null;
  return isInMetadata || (isJsonObject(headers) && headers['x-session-id'] !== undefined);
}
