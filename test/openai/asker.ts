import { expect } from 'vitest';
import type { TestApp } from '../helpers/app.ts';
import { type Contract, readContract } from '../helpers/contract.ts';

type Asked = { method?: string; body?: unknown; headers?: Record<string, string | undefined> };

/** Sends requests to OpenAI's API of a test's server. The responses must match the OpenAPI document. */
export type Asker = {
  /** @param path relative to `/v1`. @param body a string is sent verbatim. */
  ask(path: string, asked?: Asked): Promise<Response>;
  /** Posts a request that must succeed. @returns the body of its response. */
  post(path: string, body: object, headers?: Record<string, string>): Promise<Answer>;
  /** Posts a request that must stream. @returns the data of each event, with its name; `[DONE]` verbatim. */
  stream(path: string, body: object, headers?: Record<string, string>): Promise<Sent[]>;
  /** Sends a request that must be refused. @returns the error with the status. */
  refusal(path: string, asked?: Asked): Promise<Refusal>;
  contract: Contract;
};

/** The body of a response, which a test knows. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of its own response
export type Answer = any;

/** An event of a stream. */
export type Sent = { event: string | undefined; data: Answer };

export type Refusal = {
  status: number;
  code: string;
  message: string;
  type: string;
  param: string | null;
};

/** The names of the frames' schemas, by the path of their route. */
const FRAMES: [prefix: string, schema: string][] = [
  ['/chat/completions', 'CreateChatCompletionStreamResponse'],
  ['/responses', 'ResponseStreamEvent'],
];

export async function createAsker(app: TestApp, apiKey: string): Promise<Asker> {
  const contract = await readContract(app.url);

  const ask: Asker['ask'] = async (path, { body, headers = {}, ...asked } = {}) => {
    const method = asked.method ?? (body === undefined ? 'GET' : 'POST');
    const all = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      ...headers,
    };
    const given = Object.entries(all).filter(
      (one): one is [string, string] => one[1] !== undefined,
    );
    const answer = await fetch(`${app.url}/v1${path}`, {
      method,
      headers: given,
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    });
    const operation = contract.operations.find(
      (one) => one.method === method.toLowerCase() && matches(one.path, path.split('?')[0] ?? ''),
    );
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    if (operation && isJson) await contract.hold(operation.operationId, answer.clone());
    return answer;
  };

  return {
    ask,
    contract,

    async post(path, body, headers = {}) {
      const answer = await ask(path, { body, headers });
      const read: Answer = await answer.json();
      expect([answer.status, read.error ?? null]).toEqual([200, null]);
      return read;
    },

    async stream(path, body, headers = {}) {
      const answer = await ask(path, { body, headers });
      expect(answer.headers.get('content-type')).toBe('text/event-stream');
      return readEvents(await answer.text(), path, contract);
    },

    async refusal(path, asked) {
      const answer = await ask(path, asked);
      const { error }: Answer = await answer.json();
      const { code, message, type, param } = error;
      return { status: answer.status, code, message, type, param };
    },
  };
}

/** Reads a complete stream, whose frames must match the OpenAPI document. */
export function readEvents(text: string, path: string, contract: Contract): Sent[] {
  const [, schema] = FRAMES.find(([prefix]) => path.startsWith(prefix)) ?? [];
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  return blocks.map((block) => {
    const [, event, line = ''] = /^(?:event: (.*)\n)?data: (.*)$/.exec(block) ?? [];
    if (line === '[DONE]') return { event, data: line };
    const data: Answer = JSON.parse(line);
    const at = data.error ? 'OpenAIError' : schema;
    expect([line, contract.problems(data, `/components/schemas/${at}`)]).toEqual([line, []]);
    return { event, data };
  });
}

function matches(template: string, path: string): boolean {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
}
