import { type ErrorDetail, GatewayError, invalidInput } from '../../errors/errors.ts';
import { isStorable } from '../../text/characters.ts';
import {
  historyProblems,
  MAX_CALLS_OF_MESSAGE,
  type RequestCall,
  type RequestMessage,
  requestCall,
} from '../../text/request-history.ts';

/** A message of OpenAI's API, in any of its forms. */
export type WireMessage = {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function';
  content?: unknown;
  tool_calls?: unknown;
  function_call?: unknown;
  tool_call_id?: unknown;
};

/** The messages of a request, as a run takes them. */
export type Conversation = {
  /** The last message, of the user. */
  message: string;
  history: RequestMessage[];
  /** The texts of the system's and the developer's messages. */
  instructions: string[];
};

type Problems = { invalid: ErrorDetail[]; unsupported: ErrorDetail[] };

/** A message of the history with the number of the message that it was. */
type Placed = RequestMessage & { place: number };

const FIELDS = { text: 'content', toolCalls: 'tool_calls', toolCallId: 'tool_call_id' };

/**
 * Reads the messages of a request.
 *
 * @param field the member of the body that holds them, for errors.
 * @throws GatewayError `unsupported_content` for parts that are not text, `invalid_request` for other problems; each
 *   error names all of them.
 */
export function readConversation(messages: readonly WireMessage[], field: string): Conversation {
  const problems: Problems = { invalid: [], unsupported: [] };
  const instructions: string[] = [];
  const placed: Placed[] = [];
  for (const [place, message] of messages.entries()) {
    const path = `${field}.${place}`;
    const text = readContent(message.content, `${path}.content`, problems);
    if (message.role === 'system' || message.role === 'developer') {
      if (text === undefined)
        problems.invalid.push({ path: `${path}.content`, message: 'is required' });
      else if (text !== '') instructions.push(text);
    } else placed.push({ ...toMessage(message, text, path, placed.at(-1), problems), place });
  }
  const last = placed.at(-1);
  if (last?.role !== 'USER') {
    problems.invalid.push({ path: field, message: 'must end with a message of the user' });
  }
  const history = placed.slice(0, -1).map(({ place: _, ...message }) => message);
  for (const { path, message } of historyProblems(history, FIELDS)) {
    const [index, ...rest] = path;
    const place = typeof index === 'number' ? [placed[index]?.place ?? index] : [];
    problems.invalid.push({ path: [field, ...place, ...rest].join('.'), message });
  }
  if (last?.role === 'USER' && !last.text)
    problems.invalid.push({ path: `${field}.${last.place}.content`, message: 'must not be empty' });
  throwAny(problems);
  return { message: last?.text ?? '', history, instructions };
}

function throwAny({ invalid, unsupported }: Problems): void {
  if (unsupported.length > 0) {
    const message = unsupported.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new GatewayError('unsupported_content', message, { details: unsupported });
  }
  if (invalid.length > 0) throw invalidInput(invalid);
}

function toMessage(
  { role, tool_calls, function_call, tool_call_id }: WireMessage,
  text: string | undefined,
  path: string,
  before: RequestMessage | undefined,
  problems: Problems,
): RequestMessage {
  switch (role) {
    case 'assistant': {
      const calls = readCalls(tool_calls, function_call, path, problems);
      return { role: 'ASSISTANT', text: text ?? '', ...(calls.length > 0 && { toolCalls: calls }) };
    }
    case 'tool':
      return { role: 'TOOL', text, toolCallId: readId(tool_call_id) };
    case 'function':
      // The result of the one call of the message before, which has no id.
      return { role: 'TOOL', text, toolCallId: before?.toolCalls?.[0]?.id };
    default:
      return { role: 'USER', text };
  }
}

function readId(id: unknown): string | undefined {
  return typeof id === 'string' ? id : undefined;
}

/** The kinds of parts that are text, by the member that has it. */
const TEXTS: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  refusal: 'refusal',
};

/** @returns the text of a message; `undefined` if it has none. */
export function readContent(
  content: unknown,
  path: string,
  { invalid, unsupported }: Problems,
): string | undefined {
  if (content === undefined || content === null) return undefined;
  if (typeof content === 'string') return storable(content, path, invalid);
  if (!Array.isArray(content)) {
    invalid.push({ path, message: 'must be a string or a list of parts' });
    return '';
  }
  const texts: string[] = [];
  for (const [index, part] of content.entries()) {
    const type = readMember(part, 'type');
    const text = readMember(part, TEXTS[String(type)] ?? '');
    if (typeof type === 'string' && !Object.hasOwn(TEXTS, type)) {
      const name = JSON.stringify(type.slice(0, 40));
      unsupported.push({
        path: `${path}.${index}`,
        message: `a part of the type ${name} is not text`,
      });
    } else if (typeof text === 'string') texts.push(storable(text, `${path}.${index}`, invalid));
    else
      invalid.push({ path: `${path}.${index}`, message: 'must be a part with a type and a text' });
  }
  return texts.join('\n');
}

function storable(text: string, path: string, invalid: ErrorDetail[]): string {
  if (!isStorable(text))
    invalid.push({ path, message: 'must not hold U+0000 or halves of surrogate pairs' });
  return text;
}

function readCalls(
  calls: unknown,
  single: unknown,
  path: string,
  { invalid }: Problems,
): RequestCall[] {
  if (single !== undefined && single !== null) {
    // The form before `tool_calls` has one call, without an id.
    const call = {
      id: 'call_1',
      name: readMember(single, 'name'),
      arguments: readMember(single, 'arguments'),
    };
    return readCall(call, `${path}.function_call`, invalid);
  }
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls)) {
    invalid.push({ path: `${path}.tool_calls`, message: 'must be a list' });
    return [];
  }
  if (calls.length > MAX_CALLS_OF_MESSAGE) {
    const message = `must not have more than ${MAX_CALLS_OF_MESSAGE} items`;
    invalid.push({ path: `${path}.tool_calls`, message });
  }
  return calls.flatMap((call: unknown, index) => {
    const kind = readMember(call, 'function') ?? readMember(call, 'custom');
    const custom = readMember(kind, 'input');
    const text =
      typeof custom === 'string'
        ? JSON.stringify({ input: custom })
        : readMember(kind, 'arguments');
    const read = { id: readMember(call, 'id'), name: readMember(kind, 'name'), arguments: text };
    return readCall(read, `${path}.tool_calls.${index}`, invalid);
  });
}

function readCall(call: unknown, path: string, invalid: ErrorDetail[]): RequestCall[] {
  const { data, error } = requestCall.safeParse(call);
  for (const issue of error?.issues ?? [])
    invalid.push({ path: [path, ...issue.path].join('.'), message: issue.message });
  return data ? [data] : [];
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
