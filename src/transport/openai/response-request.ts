import type { z } from 'zod';
import { type ErrorDetail, invalidInput } from '../../errors/errors.ts';
import type { ChatInput, ExecuteInput } from '../../generated/operations/openai.ts';
import { isJsonObject, type JsonObject } from '../../text/json.ts';
import type { Wire } from '../rest/shape.ts';
import {
  contextOf,
  isChoice,
  isList,
  readOptions,
  readOutputSchema,
  TOOLS,
} from './completion-request.ts';
import { type Conversation, readConversation, type WireMessage } from './conversation.ts';
import { assertSupported, type runHeaders } from './openai-wire.ts';
import type { ResponseBody, ResponseItem } from './response-wire.ts';

type Request = { headers: z.output<typeof runHeaders>; body: ResponseBody };

/** What the response repeats of its request. */
export type AskedResponse = { model?: string; previous?: string | null; startingAfter?: number };

/** Whether a request is outside of any conversation. */
export function isStateless({ body }: Wire): boolean {
  return isJsonObject(body) && (body.store === false || body.background === true);
}

/** @throws GatewayError `unsupported_parameter`, `unsupported_content` or `invalid_request` */
export function toSingleResponse(request: Request) {
  const { body } = request;
  const why = body.background ? 'runs in the background have none' : 'needs store: true';
  assertSupported([
    ...unsupportedIn(body),
    ...(body.previous_response_id ? [{ path: 'previous_response_id', message: why }] : []),
    ...(body.conversation ? [{ path: 'conversation', message: why }] : []),
    ...(body.background && body.stream
      ? [
          {
            path: 'stream',
            message: 'is not possible with background: read the response as a stream',
          },
        ]
      : []),
  ]);
  const { common, conversation } = readRequest(request);
  const { message: prompt } = conversation;
  const input: ExecuteInput = {
    ...common,
    prompt,
    metadata: body.metadata,
    background: body.background,
  };
  return answer(request, input);
}

/** As `toSingleResponse`, for a turn of a conversation: a new one, or the one that the request names. */
export function toResponse(request: Request) {
  const { headers, body } = request;
  assertSupported(unsupportedIn(body));
  const { previous_response_id: previousRunId, conversation: named } = body;
  const sessionId = typeof named === 'object' ? named?.id : named;
  if (previousRunId && (sessionId ?? headers['x-session-id']) !== undefined) {
    const message = 'does not go together with a conversation';
    throw invalidInput([{ path: 'previous_response_id', message }]);
  }
  const { common, conversation } = readRequest(request);
  const { message } = conversation;
  const input: ChatInput = {
    ...common,
    message,
    previousRunId,
    sessionId: sessionId ?? headers['x-session-id'],
    onBusy: headers['x-on-busy'],
  };
  return answer(request, input);
}

function answer<Input>({ body }: Request, input: Input) {
  const { model, stream, previous_response_id: previous } = body;
  const asked: AskedResponse = { model: model.name, previous };
  return { variables: { botId: model.botId, input }, stream: stream ?? false, asked };
}

function unsupportedIn({ tools, tool_choice }: ResponseBody): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  if (isList(tools)) problems.push({ path: 'tools', message: TOOLS });
  if (!isChoice(tool_choice))
    problems.push({ path: 'tool_choice', message: 'must be "auto" or "none"' });
  return problems;
}

function readRequest({ headers, body }: Request) {
  const { input, instructions, model, tool_choice } = body;
  const messages =
    typeof input === 'string' ? [{ role: 'user' as const, content: input }] : toMessages(input);
  const read = readConversation(messages, 'input');
  const conversation: Conversation = {
    ...read,
    instructions: instructions ? [instructions, ...read.instructions] : read.instructions,
  };
  const { history } = conversation;
  const common = {
    ...readOptions({ headers, model }),
    context: contextOf(body.context, conversation),
    history: history.length > 0 ? history : undefined,
    outputSchema: readFormat(body.text?.format),
    toolChoice: tool_choice === 'none' ? ('NONE' as const) : undefined,
  };
  return { common, conversation };
}

/** The items of a request as messages, each in the place of its item. */
function toMessages(items: ResponseItem[]): WireMessage[] {
  const problems: ErrorDetail[] = [];
  const messages = items.map((item, index): WireMessage => {
    switch (item.type ?? 'message') {
      case 'message':
        if (item.role === undefined)
          problems.push({ path: `input.${index}.role`, message: 'is required' });
        return { role: item.role ?? 'user', content: item.content };
      case 'function_call': {
        const call = { name: item.name, arguments: item.arguments };
        return { role: 'assistant', tool_calls: [{ id: item.call_id, function: call }] };
      }
      case 'function_call_output':
        return { role: 'tool', tool_call_id: item.call_id, content: item.output };
      default:
        problems.push({
          path: `input.${index}.type`,
          message: 'must be "message", "function_call" or "function_call_output"',
        });
        return { role: 'user', content: '' };
    }
  });
  if (problems.length > 0) throw invalidInput(problems);
  return messages;
}

function readFormat(format: NonNullable<ResponseBody['text']>['format']): JsonObject | undefined {
  switch (format?.type) {
    case 'json_object':
      return { type: 'object' };
    case 'json_schema':
      return readOutputSchema(format.schema, 'text.format.schema');
    default:
      return undefined;
  }
}
