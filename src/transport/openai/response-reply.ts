import { readErrorCode } from '../../errors/errors.ts';
import type {
  ModelOfRunFragment,
  RespondedFragment,
  ResponseEndFragment,
} from '../../generated/operations/openai.ts';
import { DEFAULT_ENVIRONMENT } from '../../vocabulary/environments.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { toUnixTime } from './model-wire.ts';
import type { AskedResponse } from './response-request.ts';
import type { WireResponse } from './response-wire.ts';

const STATUSES = {
  QUEUED: 'queued',
  RUNNING: 'in_progress',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const;

/** The response of a run in its current state. */
export function toWireResponse(run: RespondedFragment, asked: AskedResponse = {}): WireResponse {
  const { status, replyText: text, failure, sessionId } = run;
  const hasEnded = status === 'COMPLETED' || status === 'CANCELLED';
  const reason = status === 'COMPLETED' ? incompleteReason(run) : undefined;
  return responseOf({
    id: run.id,
    created_at: toUnixTime(run.createdAt),
    status: reason ? 'incomplete' : STATUSES[status],
    model: asked.model ?? modelOf(run),
    output: hasEnded && text ? [toMessage(run.id, text, status === 'COMPLETED' && !reason)] : [],
    error: failure && { ...failure, code: readErrorCode(failure.code) },
    incomplete_details: reason ? { reason } : null,
    conversation: sessionId === null ? null : { id: sessionId },
    previous_response_id: asked.previous ?? null,
    usage: hasEnded ? toResponseUsage(run) : null,
  });
}

/** The name of the model of a run. */
export function modelOf({ bot, environment }: ModelOfRunFragment): string {
  return environment === DEFAULT_ENVIRONMENT ? bot.id : `${bot.id}:${toLowerCase(environment)}`;
}

/** The members that differ from response to response. */
export type ResponseFacts = Omit<
  WireResponse,
  | 'object'
  | 'instructions'
  | 'metadata'
  | 'parallel_tool_calls'
  | 'tool_choice'
  | 'tools'
  | 'temperature'
  | 'top_p'
>;

/** A response with the members that OpenAI's clients expect. */
export function responseOf(facts: ResponseFacts): WireResponse {
  return {
    object: 'response',
    ...facts,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    temperature: null,
    top_p: null,
  };
}

/** The reply of a run as a message. */
export function toMessage(
  runId: string,
  text: string,
  isComplete: boolean,
): WireResponse['output'][number] {
  return {
    type: 'message',
    id: messageId(runId),
    role: 'assistant',
    status: isComplete ? 'completed' : 'incomplete',
    content: [toOutputText(text)],
  };
}

export function messageId(runId: string): string {
  return runId.replace(/^run_/, 'msg_');
}

export function toOutputText(text: string): WireResponse['output'][number]['content'][number] {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function incompleteReason({ finishReason }: Pick<ResponseEndFragment, 'finishReason'>) {
  if (finishReason === 'length') return 'max_output_tokens' as const;
  return finishReason === 'content_filter' ? finishReason : undefined;
}

export function toResponseUsage(run: ResponseEndFragment): NonNullable<WireResponse['usage']> {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = run;
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens ?? 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: promptTokens + completionTokens,
  };
}
