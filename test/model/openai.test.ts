import { once } from 'node:events';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { GatewayError } from '../../src/errors/errors.ts';
import type { ModelEvent, ModelRequest } from '../../src/model/model.ts';
import { createOpenAIModel } from '../../src/model/openai.ts';
import { VERSION } from '../../src/text/version.ts';
import { rawRequests } from '../helpers/raw-requests.ts';
import { type Script, startUpstream, type Upstream } from '../helpers/upstream.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
beforeEach(() => {
  upstream.requests.length = 0;
});

const request: ModelRequest = {
  model: 'scripted',
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [],
  timeout: 60_000,
};

const run = async (
  script: Script,
  options: Partial<ModelRequest> = {},
  signal: AbortSignal = new AbortController().signal,
  onEvent: () => void = () => {},
) => {
  upstream.script(script);
  const model = createOpenAIModel({
    apiKey: 'sk-test',
    baseUrl: upstream.baseUrl,
    defaultModel: 'scripted',
    retryDelayMs: 1,
  });
  const events: ModelEvent[] = [];
  const emit = (event: ModelEvent) => {
    events.push(event);
    onEvent();
  };
  await model.stream({ ...request, ...options }, emit, signal);
  return events;
};

const failure = async (script: Script, options: Partial<ModelRequest> = {}) => {
  const error = await run(script, options).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(GatewayError);
  return `${error.code}: ${error.message}`;
};

const textOf = (events: ModelEvent[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

const LARGE = 1024 * 1024;
const delta = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;

describe('a model server with OpenAI’s chat completions', () => {
  test('streams text, then its finish with the usage', async () => {
    const events = await run(({ say, end }) => {
      say('Good ');
      say('day.');
      end({ prompt_tokens: 9, completion_tokens: 4 });
    });
    expect(events).toEqual([
      { type: 'text-delta', text: 'Good ' },
      { type: 'text-delta', text: 'day.' },
      { type: 'finish', reason: 'stop', usage: { promptTokens: 9, completionTokens: 4 } },
    ]);
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer sk-test');
  });

  test('receives the headers of the openai client', async () => {
    await run(({ end }) => end(), { timeout: 62_500 });
    expect(upstream.requests[0]?.headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': `parley/${VERSION}`,
      'x-stainless-retry-count': '0',
      'x-stainless-timeout': '62',
    });
  });

  test('receives a query of its address, a key in a header of its own, and the organization', async () => {
    const server = await rawRequests();
    onTestFinished(server.close);
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('OPENAI_ORG_ID', 'org-of-the-environment');
    const model = createOpenAIModel({
      apiKey: 'sk-azure',
      baseUrl: `${server.origin}/openai/deployments/d?api-version=2024-10-21`,
      defaultModel: 'd',
      authHeader: 'api-key',
      organization: 'org-1',
      project: 'proj-1',
    });
    for (const _call of [1, 2]) {
      await model.stream(request, () => {}, new AbortController().signal);
    }
    expect(server.requests).toHaveLength(2);
    for (const text of server.requests) {
      expect(text).toMatch(
        /^POST \/openai\/deployments\/d\/chat\/completions\?api-version=2024-10-21 HTTP/,
      );
      const [head = ''] = text.toLowerCase().split('\r\n\r\n');
      expect(head.split('\r\n')).toEqual(
        expect.arrayContaining([
          'api-key: sk-azure',
          'openai-organization: org-1',
          'openai-project: proj-1',
          `user-agent: parley/${VERSION}`,
        ]),
      );
      expect(head).not.toContain('authorization');
    }
  });

  test('has undefined usage if the server reports none', async () => {
    const events = await run(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"length"}]}\n\n');
      response.end('data: [DONE]\n\n');
    });
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'length', usage: undefined });
  });

  test.each<[string, unknown, object | undefined]>([
    ['strings', { prompt_tokens: '5', completion_tokens: '6' }, undefined],
    ['null', { prompt_tokens: null }, undefined],
    ['fractions and negative numbers', { prompt_tokens: 1.5, completion_tokens: -1 }, undefined],
    [
      'more than can be stored',
      { prompt_tokens: 3_000_000_000, completion_tokens: 2 },
      { promptTokens: 0, completionTokens: 2 },
    ],
  ])('counts invalid tokens as 0: %s', async (_what, usage, expected) => {
    const events = await run(({ say, end }) => {
      say('Hi');
      end(usage as never);
    });
    expect(events.at(-1)).toMatchObject({ usage: expected });
  });

  test('is called once more if it fails before the first token', async () => {
    let attempts = 0;
    const events = await run(({ response, say, end }) => {
      attempts += 1;
      if (attempts === 1) {
        response.writeHead(429, { 'retry-after-ms': '1' }).end();
        return;
      }
      say('Now.');
      end();
    });
    expect(textOf(events)).toBe('Now.');
    expect(upstream.requests).toHaveLength(2);
  });

  test('is called once more if it disconnects before the first token', async () => {
    let attempts = 0;
    const events = await run(({ response, say, end }) => {
      attempts += 1;
      if (attempts === 1) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n');
        response.end();
        return;
      }
      say('Now.');
      end();
    });
    expect(textOf(events)).toBe('Now.');
    expect(upstream.requests).toHaveLength(2);
  });

  test('is not called again if a retry cannot help', async () => {
    expect(await failure(({ response }) => void response.writeHead(401).end())).toMatch(/401/);
    expect(upstream.requests).toHaveLength(1);
  });

  test.each([
    ['retry-after', '21', 60_000],
    ['retry-after', '20', 19_000],
    ['retry-after-ms', '20000', 19_000],
  ])('is not called again after %s: %s within %i ms', async (name, value, timeout) => {
    const refuse: Script = ({ response }) => void response.writeHead(503, { [name]: value }).end();
    expect(await failure(refuse, { timeout })).toMatch(/503/);
    expect(upstream.requests).toHaveLength(1);
  });

  test('is called at most twice', async () => {
    expect(
      await failure(
        ({ response }) => void response.writeHead(500, { 'retry-after-ms': '1' }).end(),
      ),
    ).toBe("model_error: The model's server answered 500.");
    expect(upstream.requests).toHaveLength(2);
  });

  test('is not called again after its first token', async () => {
    expect(
      await failure(({ say, cut }) => {
        say('Half');
        cut();
      }),
    ).toMatch(/^model_error: /);
    expect(upstream.requests).toHaveLength(1);
  });

  test.each<[string, Script]>([
    ['its connection is lost', ({ response }) => void response.destroy()],
    ['its last event is cut', ({ response }) => void response.end('data: {"choices":[],"us')],
    [
      'it sends nothing more until the time limit',
      async ({ closed }) => {
        vi.advanceTimersByTime(request.timeout);
        await closed;
      },
    ],
  ])('has answered once its finish reason has arrived, also if %s', async (_how, rest) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const choice = { index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' };
    const received = Promise.withResolvers<void>();
    const script: Script = async (exchange) => {
      const { response } = exchange;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
      await received.promise;
      await rest(exchange);
    };
    const events = await run(script, {}, undefined, received.resolve);
    expect(events).toEqual([
      { type: 'text-delta', text: 'Hi' },
      { type: 'finish', reason: 'stop', usage: undefined },
    ]);
    expect(upstream.requests).toHaveLength(1);
  });

  test.each<[string, Script]>([
    [
      'a stream that ends without a finish reason',
      ({ say, response }) => {
        say('Half');
        response.end();
      },
    ],
    ['an empty response', ({ response }) => void response.writeHead(200).end()],
    [
      'an HTML page',
      ({ response }) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>canary</h1>'),
    ],
    [
      'invalid JSON',
      ({ response }) =>
        void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('data: {"canary\n\n'),
    ],
    [
      'an error in the stream',
      ({ response }) =>
        void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('data: {"error":{"message":"canary"}}\n\n'),
    ],
    [
      'a refusal with a message',
      ({ response }) =>
        void response
          .writeHead(401, { 'content-type': 'application/json' })
          .end('{"error":{"message":"canary sk-test"}}'),
    ],
  ] as [string, Script][])(
    'that returns %s causes a model_error without the server’s text',
    async (_what, script) => {
      const message = await failure(script);
      expect(message).toMatch(/^model_error: /);
      expect(message).not.toMatch(/canary|sk-test/);
    },
  );

  test('that is unreachable causes a model_error', async () => {
    const model = createOpenAIModel({
      baseUrl: 'http://127.0.0.1:1/v1',
      defaultModel: 'none',
      retryDelayMs: 1,
    });
    const call = model.stream(request, () => {}, new AbortController().signal);
    await expect(call).rejects.toMatchObject({
      code: 'model_error',
      message: "The model's server cannot be reached.",
    });
  });

  test.each<[string, Script]>([
    ['never responds', async ({ closed }) => void (await closed)],
    [
      'stops responding',
      async ({ say, closed }) => {
        say('Well');
        await closed;
      },
    ],
  ])('that %s causes a model_timeout, and is disconnected', async (_what, script) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const hungUp = Promise.withResolvers<void>();
    const message = await failure(async (exchange) => {
      // The time is over as soon as the server has the request.
      setImmediate(() => vi.advanceTimersByTime(request.timeout));
      await script(exchange);
      hungUp.resolve();
    });
    expect(message).toBe('model_timeout: The model did not answer in time.');
    await hungUp.promise;
  });

  test.each<[string, string]>([
    ['text', delta({ content: 'x'.repeat(LARGE) })],
    ['text in small pieces', delta({ content: 'x' }).repeat(LARGE / 64)],
    [
      'tool call arguments',
      delta({ tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(LARGE) } }] }),
    ],
  ])('that returns endless %s causes a model_error, and is disconnected', async (_what, piece) => {
    const hungUp = Promise.withResolvers<void>();
    const message = await failure(async ({ response, closed }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      while (!response.destroyed) {
        response.write(piece);
        await Promise.race([once(response, 'drain'), closed]);
      }
      hungUp.resolve();
    });
    expect(message).toBe("model_error: The model's answer is too long.");
    expect(upstream.requests).toHaveLength(1);
    await hungUp.promise;
  });

  test('that returns an endless error response causes a model_error', async () => {
    const refuse: Script = ({ response }) => void response.writeHead(401).write('No');
    expect(await failure(refuse)).toBe("model_error: The model's server answered 401.");
  });

  test('is disconnected when the signal is aborted, without further events', async () => {
    const leaving = new AbortController();
    const hungUp = Promise.withResolvers<void>();
    const events = await run(
      async ({ say, closed }) => {
        say('Well');
        leaving.abort();
        await closed;
        hungUp.resolve();
      },
      {},
      leaving.signal,
    );
    expect(events.every(({ type }) => type === 'text-delta')).toBe(true);
    await hungUp.promise;
  });

  test('is not called if the signal is already aborted', async () => {
    expect(await run(({ end }) => end(), {}, AbortSignal.abort())).toEqual([]);
    expect(upstream.requests).toHaveLength(0);
  });

  test('may split a character between two fragments, and may send characters that cannot be stored', async () => {
    const events = await run(({ say, end }) => {
      say('\uD83D');
      say('\uDE00 ok \u0000 \uD800');
      say('!');
      end();
    });
    expect(textOf(events)).toBe('😀 ok \uFFFD \uFFFD!');
  });

  test('may end with half a character, which is replaced', async () => {
    const events = await run(({ say, end }) => {
      say('Well \uD83D');
      end();
    });
    expect(textOf(events)).toBe('Well \uFFFD');
  });
});
