import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject, type JsonObject, type JsonValue } from '../text/json.ts';
import { NOTICE } from '../text/notice.ts';
import type { Model } from './model.ts';
import { createOpenAIModel } from './openai.ts';

const NAME = 'offline';

type Message = { role: string; content: string | null };
type Request = {
  messages: Message[];
  tools?: { function: { name: string } }[];
  tool_choice?: string;
  response_format?: { json_schema: { schema: JsonObject } };
};

/**
 * The model for installations without a configured model server. It runs in this process without a network and is
 * deterministic. It implements the `fetch` of the regular model client. Every run records its name as `offline`.
 *
 * @param pace milliseconds between two words, to make streaming visible.
 */
export function createOfflineModel({ pace }: { pace: number }): Model {
  const model = createOpenAIModel({
    defaultModel: NAME,
    fetch: async (_url, { body, signal }) => answer(body, pace, signal),
  });
  return { ...model, provider: 'parley.offline', server: undefined, nameFor: () => NAME };
}

function answer(body: string, pace: number, signal?: AbortSignal): Response {
  const request: Request = JSON.parse(body);
  const call = toolCallFor(request);
  const schema = request.response_format?.json_schema.schema;
  const text = schema ? JSON.stringify(exampleOf(schema)) : reply(request.messages);
  const words = call ? [] : text.split(/(?<= )/);
  const usage = {
    prompt_tokens: countWords(request.messages.map(({ content }) => content).join(' ')),
    completion_tokens: words.length,
  };
  const chunks = async function* () {
    for (const content of words) {
      if (pace > 0) await delay(pace, undefined, { signal });
      yield { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
    }
    const delta = call ? { tool_calls: [call] } : {};
    yield { choices: [{ index: 0, delta, finish_reason: call ? 'tool_calls' : 'stop' }] };
    yield { choices: [], usage };
  };
  const frames = encode(chunks());
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await frames.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await frames.return(undefined);
    },
  });
  return new Response(stream, { headers: { 'Content-Type': 'text/event-stream' } });
}

/** Calls the tool that the message names, such as `time.now`, with the JSON object in the message, if any. */
function toolCallFor({ messages, tools = [], tool_choice: choice }: Request) {
  const last = messages.at(-1);
  if (last?.role !== 'user' || choice === 'none') return undefined;
  const text = last.content ?? '';
  if (text.startsWith(NOTICE)) return undefined;
  const named = tools.find(({ function: { name } }) =>
    new RegExp(`\\b${name.replaceAll('_', '[_.]')}\\b`).test(text),
  );
  if (!named) return undefined;
  const [input = '{}'] = /\{.*\}/s.exec(text) ?? [];
  const id = `call_${messages.length}`;
  return { index: 0, id, function: { name: named.function.name, arguments: input } };
}

/** Shows the request to the model: the message, the previous turns, the saved facts, and the caller's context. */
function reply(messages: Message[]): string {
  const answers = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const answered = answers.find(({ role }) => role === 'tool')?.content;
  const userMessages = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const message = userMessages.pop() ?? '';
  const previous = userMessages.at(-1);
  const textOf = (tag: string) =>
    new RegExp(`<${tag}>\\n(.*)\\n</${tag}>`, 's').exec(messages[0]?.content ?? '')?.[1];
  if (message?.startsWith(NOTICE)) return message.slice(NOTICE.length).trim();
  const [memory, context] = [textOf('memory'), textOf('context')];
  return [
    `You said: "${message}".`,
    ...(answered == null
      ? []
      : [`The tool that you named answered: ${answered.replace(/\.$/, '')}.`]),
    previous === undefined
      ? 'This is your first message.'
      : `Before that, you said: "${previous}". I remember ${userMessages.length + 1} messages of yours.`,
    ...(memory ? [`Saved facts about you: ${memory}.`] : []),
    ...(context ? [`Context of this request: ${context}.`] : []),
    'I am the offline model: set OPENAI_API_KEY to talk to a real one.',
  ].join(' ');
}

/** A value that fits a simple JSON Schema: the required fields of an object with their first choices, zeros and words. */
function exampleOf({ type, properties, required, enum: choices, minimum }: JsonObject): JsonValue {
  if (Array.isArray(choices)) return choices[0] ?? null;
  switch (type) {
    case 'object': {
      const names = new Set(Array.isArray(required) ? required : []);
      const fields = isJsonObject(properties) ? Object.entries(properties) : [];
      return Object.fromEntries(
        fields.flatMap(([name, field]) =>
          names.has(name) && isJsonObject(field) ? [[name, exampleOf(field)]] : [],
        ),
      );
    }
    case 'array':
      return [];
    case 'number':
    case 'integer':
      return typeof minimum === 'number' && minimum > 0 ? minimum : 0;
    case 'boolean':
      return false;
    default:
      return 'offline';
  }
}

function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

async function* encode(chunks: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  for await (const chunk of chunks) yield encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
  yield encoder.encode('data: [DONE]\n\n');
}
