import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type ClientOptions, Parley, RateLimitError, RunError } from '../../src/client/index.ts';
import { retryDelay } from '../../src/client/retry.ts';

const REPLY = { response: 'Hi', session_id: 's', run_id: 'run_1', latency_ms: 1, tokens_used: 1 };

type Answer = { status?: number; headers?: Record<string, string>; body?: unknown } | Error;

/** A client whose server gives these answers in order, and then the reply. */
function clientOf(answers: Answer[], options: ClientOptions = {}) {
  const requests: { url: string; headers: Headers; body: string }[] = [];
  const parley = new Parley({
    apiKey: 'parley_sk_test',
    async fetch(url, init) {
      init?.signal?.throwIfAborted();
      const headers = new Headers(init?.headers);
      requests.push({ url: String(url), headers, body: String(init?.body) });
      const answer = answers.shift() ?? {};
      if (answer instanceof Error) throw answer;
      const body = JSON.stringify(answer.body ?? REPLY);
      return new Response(body, { status: answer.status ?? 200, headers: answer.headers ?? {} });
    },
    ...options,
  });
  return { parley, requests };
}

const failed = (status: number, code: string, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: { error: { code, message: 'No.', request_id: 'req_1' } },
});

const chat = (parley: Parley) => parley.chat('demo', { message: 'Hi' });

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  return () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  };
});

describe('a retry', () => {
  test.each([
    ['a network error', new TypeError('fetch failed')],
    ['429', failed(429, 'rate_limit_exceeded', { 'retry-after': '0' })],
    ['500 internal_error', failed(500, 'internal_error')],
    ['a page of a proxy with 502', { status: 502 }],
    ['503', { status: 503 }],
    ['504', { status: 504 }],
  ])('follows %s, under the same idempotency key', async (_what, answer) => {
    const { parley, requests } = clientOf([answer, answer]);
    expect(await chat(parley)).toMatchObject({ response: 'Hi', runId: 'run_1' });
    const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[0]).toMatch(/^\d+-\d+-\d+-\d+$/);
  });

  test('follows an answer that is cut off', async () => {
    const { parley, requests } = clientOf([]);
    let attempts = 0;
    const broken = new Parley({
      apiKey: 'parley_sk_test',
      fetch: async () => {
        attempts += 1;
        return new Response(JSON.stringify(REPLY).slice(0, attempts === 1 ? 10 : undefined));
      },
    });
    expect(await chat(broken)).toMatchObject({ response: 'Hi' });
    expect(attempts).toBe(2);
    await chat(parley);
    expect(requests.length).toBe(1);
  });

  test('stops after two, or after as many as the options say', async () => {
    const answers = () => Array.from({ length: 9 }, () => failed(500, 'internal_error'));
    const usual = clientOf(answers());
    await expect(chat(usual.parley)).rejects.toMatchObject({ code: 'internal_error', status: 500 });
    expect(usual.requests.length).toBe(3);
    const none = clientOf(answers(), { maxRetries: 0 });
    await expect(chat(none.parley)).rejects.toThrow('No.');
    expect(none.requests.length).toBe(1);
    const one = clientOf(answers());
    const call = one.parley.chat('demo', { message: 'Hi' }, { maxRetries: 1 });
    await expect(call).rejects.toThrow('No.');
    expect(one.requests.length).toBe(2);
  });

  test.each([
    ['a run that failed', failed(500, 'model_error', { 'x-run-id': 'run_1' }), RunError],
    ['a run that timed out', failed(500, 'model_timeout', { 'x-run-id': 'run_1' }), RunError],
    ['a run that was interrupted', failed(500, 'interrupted'), RunError],
    [
      'an internal error of a run',
      failed(500, 'internal_error', { 'x-run-id': 'run_1' }),
      RunError,
    ],
  ])('never follows %s', async (_what, answer, type) => {
    const { parley, requests } = clientOf([answer]);
    await expect(chat(parley)).rejects.toBeInstanceOf(type);
    expect(requests.length).toBe(1);
  });

  test.each([
    [400, 'invalid_request', 'InvalidRequestError'],
    [401, 'invalid_api_key', 'AuthenticationError'],
    [403, 'insufficient_scope', 'PermissionError'],
    [404, 'bot_not_found', 'NotFoundError'],
    [418, 'teapot', 'ParleyError'],
  ])('never follows %i', async (status, code, name) => {
    const { parley, requests } = clientOf([failed(status, code)]);
    const facts = { name, status, code, message: 'No.', requestId: 'req_1' };
    await expect(chat(parley)).rejects.toMatchObject(facts);
    expect(requests.length).toBe(1);
  });

  test('of a key that the caller made uses that key', async () => {
    const { parley, requests } = clientOf([failed(500, 'internal_error')]);
    await parley.deploy('demo', { source: 'agentlang 5' }, { idempotencyKey: 'order-1' });
    const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys).toEqual(['order-1', 'order-1']);
  });

  test('waits as long as Retry-After says, also where a proxy doubles the header', async () => {
    vi.useFakeTimers();
    const refusal = failed(429, 'rate_limit_exceeded', { 'retry-after': '21, 21' });
    const { parley, requests } = clientOf([refusal]);
    const reply = chat(parley);
    await vi.advanceTimersByTimeAsync(20_999);
    expect(requests.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reply).toMatchObject({ response: 'Hi' });
  });

  test('that would come after the time limit is an error at once', async () => {
    const refusal = failed(429, 'rate_limit_exceeded', { 'retry-after': '3600' });
    const { parley, requests } = clientOf([refusal], { timeout: 300_000 });
    const error = await chat(parley).catch((reason) => reason);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ retryAfter: 3_600, status: 429 });
    expect(requests.length).toBe(1);
  });

  test('ends when the call is aborted', async () => {
    const abortion = new AbortController();
    const refusal = failed(429, 'rate_limit_exceeded', { 'retry-after': '3600' });
    const { parley } = clientOf([refusal], {
      timeout: Number.POSITIVE_INFINITY,
      signal: abortion.signal,
    });
    const error = parley.runs('demo').page();
    setImmediate(() => abortion.abort(new Error('mine')));
    await expect(error).rejects.toThrow('mine');
  });
});

describe('the wait before a retry', () => {
  test('grows from half a second to eight, with full jitter, beyond Retry-After', () => {
    const longest = Array.from({ length: 8 }, (_, failures) => retryDelay(failures, 0, 1));
    expect(longest).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000]);
    expect(retryDelay(3, 0, 0)).toBe(0);
    expect(retryDelay(3, 0, 0.25)).toBe(1_000);
    expect(retryDelay(1_000_000, 0, 1)).toBe(8_000);
    expect(retryDelay(0, 21, 0)).toBe(21_000);
    expect(retryDelay(0, 21, 1)).toBe(21_500);
  });
});

describe('a request', () => {
  test.each([
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000/v1/bots/demo/chat'],
    ['http://127.0.0.1:4000/', 'http://127.0.0.1:4000/v1/bots/demo/chat'],
    ['http://127.0.0.1:4000/v1', 'http://127.0.0.1:4000/v1/bots/demo/chat'],
    ['https://bots.example/parley/v1/', 'https://bots.example/parley/v1/bots/demo/chat'],
    [undefined, 'http://127.0.0.1:4000/v1/bots/demo/chat'],
  ])('to %s goes to %s', async (baseUrl, url) => {
    const { parley, requests } = clientOf([], { baseUrl });
    await chat(parley);
    expect(requests[0]?.url).toBe(url);
  });

  test('has the names of the wire, and nothing inside them renamed', async () => {
    const { parley, requests } = clientOf([]);
    const outputSchema = { type: 'object', properties: { someName: { type: 'string' } } };
    const metadata = { someKey: 1 };
    await parley.execute('a/b', {
      prompt: 'Hi',
      outputSchema,
      metadata,
      context: { userName: 'x' },
    });
    expect(requests[0]?.url).toContain('/v1/bots/a%2Fb/execute');
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      prompt: 'Hi',
      output_schema: outputSchema,
      metadata,
      context: { userName: 'x' },
    });
  });

  test('has the headers of the client and of the call', async () => {
    const { parley, requests } = clientOf([], { headers: { 'x-a': '1', 'x-b': '1' } });
    await parley.chat('demo', { message: 'Hi' }, { headers: { 'X-B': '2' } });
    const sent = requests[0]?.headers;
    expect([sent?.get('x-a'), sent?.get('x-b')]).toEqual(['1', '2']);
    expect(sent?.get('authorization')).toBe('Bearer parley_sk_test');
  });
});

describe('the rate limit', () => {
  test('is the last one seen, also of a refusal and where a proxy doubles its headers', async () => {
    const headers = (remaining: string) => ({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': remaining,
      'x-ratelimit-reset': '1795262400',
    });
    const { parley } = clientOf([
      { headers: headers('59, 59') },
      failed(404, 'bot_not_found', headers('58')),
      { headers: {} },
    ]);
    expect(parley.limits).toBeUndefined();
    await chat(parley);
    expect(parley.limits).toEqual({ limit: 60, remaining: 59, reset: 1_795_262_400 });
    await chat(parley).catch(() => {});
    expect(parley.limits?.remaining).toBe(58);
    await chat(parley);
    expect(parley.limits?.remaining).toBe(58);
  });
});
