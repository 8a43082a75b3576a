import OpenAI from 'openai';
import { Pool } from 'undici';
import type { StoredMessage } from './reference-store.ts';
import { MODEL, PROMPT, type USAGE } from './workload.ts';

/** The ways to call the model: with the `openai` client, or with `undici` and nothing else. */
export const CLIENTS = ['openai', 'undici'] as const;
export type Client = (typeof CLIENTS)[number];

type Answer = { text: string; tokens: number };
type Completion = {
  choices: { delta?: { content?: string }; message?: { content: string } }[];
  usage?: typeof USAGE | null;
};

/** The reference's calls of the model. */
export type ReferenceModel = {
  whole(messages: StoredMessage[]): Promise<Answer>;
  streamed(messages: StoredMessage[], onDelta: (delta: string) => void): Promise<Answer>;
};

const conversation = (messages: StoredMessage[]) => ({
  model: MODEL,
  messages: [{ role: 'system' as const, content: PROMPT }, ...messages],
});
const STREAMED = { stream: true, stream_options: { include_usage: true } } as const;

export function createReferenceModel(client: Client, baseURL: string): ReferenceModel {
  return client === 'openai' ? createOpenAI(baseURL) : createUndici(baseURL);
}

function createOpenAI(baseURL: string): ReferenceModel {
  const client = new OpenAI({ apiKey: 'none', baseURL });
  return {
    async whole(messages) {
      const { choices, usage } = await client.chat.completions.create(conversation(messages));
      return { text: choices[0]?.message.content ?? '', tokens: usage?.total_tokens ?? 0 };
    },
    async streamed(messages, onDelta) {
      const answer = { text: '', tokens: 0 };
      const request = { ...conversation(messages), ...STREAMED };
      for await (const { choices, usage } of await client.chat.completions.create(request)) {
        const delta = choices[0]?.delta.content;
        if (delta) {
          answer.text += delta;
          onDelta(delta);
        }
        answer.tokens = usage?.total_tokens ?? answer.tokens;
      }
      return answer;
    },
  };
}

function createUndici(baseURL: string): ReferenceModel {
  const { origin, pathname } = new URL(baseURL);
  const pool = new Pool(origin);
  const send = async (body: object) => {
    const answer = await pool.request({
      method: 'POST',
      path: `${pathname}/chat/completions`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return answer.body;
  };
  return {
    async whole(messages) {
      const { choices, usage } = (await (await send(conversation(messages))).json()) as Completion;
      return { text: choices[0]?.message?.content ?? '', tokens: usage?.total_tokens ?? 0 };
    },
    async streamed(messages, onDelta) {
      const answer = { text: '', tokens: 0 };
      let rest = '';
      const body = await send({ ...conversation(messages), ...STREAMED });
      for await (const piece of body.setEncoding('utf8')) {
        const events = (rest + piece).split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) {
          if (event === 'data: [DONE]') continue;
          const { choices, usage } = JSON.parse(event.slice('data: '.length)) as Completion;
          const delta = choices[0]?.delta?.content;
          if (delta) {
            answer.text += delta;
            onDelta(delta);
          }
          answer.tokens = usage?.total_tokens ?? answer.tokens;
        }
      }
      return answer;
    },
  };
}
