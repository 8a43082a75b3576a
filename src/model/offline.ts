import { setTimeout as delay } from 'node:timers/promises';
import type { Model } from './model.ts';
import { createOpenAIModel } from './openai.ts';

const NAME = 'offline';

type Message = { role: string; content: string };

/**
 * The model that answers where no model's server is configured: in this process, without a network, and the
 * same answer to the same conversation. It sits behind the same client as a real one, as its `fetch`, and
 * every run names it `offline`.
 *
 * @param pace milliseconds between two words, so that streaming can be seen.
 */
export function createOfflineModel({ pace }: { pace: number }): Model {
  const model = createOpenAIModel({
    defaultModel: NAME,
    fetch: async (_url, init) => answer(String(init?.body), pace, init?.signal ?? undefined),
  });
  return { ...model, nameFor: () => NAME };
}

function answer(body: string, pace: number, signal?: AbortSignal): Response {
  const { messages }: { messages: Message[] } = JSON.parse(body);
  const words = reply(messages).split(/(?<= )/);
  const usage = {
    prompt_tokens: countWords(messages.map(({ content }) => content).join(' ')),
    completion_tokens: words.length,
  };
  const chunks = async function* () {
    for (const content of words) {
      if (pace > 0) await delay(pace, undefined, { signal });
      yield { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
    }
    yield { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
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

/** Shows what reached the model: the message, the turns before it, what is kept of the user, and the caller's context. */
function reply(messages: Message[]): string {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const message = said.pop() ?? '';
  const previous = said.at(-1);
  const told = (tag: string) =>
    new RegExp(`<${tag}>\\n(.*)\\n</${tag}>`, 's').exec(messages[0]?.content ?? '')?.[1];
  const [memory, context] = [told('memory'), told('context')];
  return [
    `You said: "${message}".`,
    previous === undefined
      ? 'It is the first thing that I hear from you.'
      : `Before that, you said: "${previous}". I remember ${said.length + 1} messages of yours.`,
    ...(memory ? [`I keep this of you: ${memory}.`] : []),
    ...(context ? [`I was also told this: ${context}.`] : []),
    'I am the offline model: set OPENAI_API_KEY to talk to a real one.',
  ].join(' ');
}

function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

async function* encode(chunks: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  for await (const chunk of chunks) yield encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
  yield encoder.encode('data: [DONE]\n\n');
}
