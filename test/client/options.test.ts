import { inspect } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ChatClient, type ClientOptions, Parley, ParleyError } from '../../src/client/index.ts';

const CANARY = 'parley_sk_canary';

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('a client refuses', () => {
  test.each<[string, ClientOptions, RegExp]>([
    ['no key', {}, /^apiKey is missing/],
    ['an empty key', { apiKey: '' }, /^apiKey is missing/],
    ['a key with a line break', { apiKey: `${CANARY}\n` }, /^apiKey is missing or invalid/],
    ['a key and a token', { apiKey: CANARY, sessionToken: CANARY }, /not both/],
    ['an empty token', { sessionToken: '' }, /missing/],
    ['an address without a scheme', { apiKey: CANARY, baseUrl: 'localhost:4000' }, /^baseUrl/],
    ['an address that is none', { apiKey: CANARY, baseUrl: 'http://' }, /^baseUrl/],
    ['a password in the address', { apiKey: CANARY, baseUrl: `http://a:${CANARY}@b` }, /^baseUrl/],
  ])('%s', (_what, options, message) => {
    const create = () => new Parley(options);
    expect(create).toThrow(ParleyError);
    expect(create).toThrow(message);
    expect(create).not.toThrow(CANARY);
  });

  test.each([{ timeout: 0 }, { timeout: Number.NaN }, { maxRetries: -1 }])('%j', (options) => {
    const parley = new Parley({ apiKey: CANARY });
    expect(() => parley.chat('demo', { message: 'Hi' }, options)).toThrow('out of range');
    expect(() => parley.runs('demo', {}, options).page()).toThrow('out of range');
  });

  test('a key in a browser, unless the page says that it knows the danger', () => {
    vi.stubGlobal('window', {});
    vi.stubGlobal('document', {});
    expect(() => new Parley({ apiKey: CANARY })).toThrow('A page must not hold an apiKey.');
    expect(() => new ChatClient({ apiKey: CANARY })).toThrow('Use a sessionToken');
    new Parley({ apiKey: CANARY, dangerouslyAllowBrowser: true });
    new Parley({ sessionToken: 'token' });
  });
});

describe('the key', () => {
  test('is in no message, text, inspection or JSON of anything that the client makes', async () => {
    const answers: (() => Promise<Response>)[] = [
      async () =>
        Response.json({ error: { code: 'invalid_api_key', message: 'No.' } }, { status: 401 }),
      async () =>
        Response.json({ error: { code: 'model_error', message: 'No.' } }, { status: 500 }),
      async () =>
        Response.json({ error: { code: 'invalid_request', message: 'No.' } }, { status: 400 }),
      async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
      async () => new Response('{"response":'),
      async () => Promise.reject(new TypeError('fetch failed')),
      () => new Promise(() => {}),
    ];
    const seen: unknown[] = [];
    for (const credentials of [{ apiKey: CANARY }, { sessionToken: CANARY }]) {
      for (const answer of answers) {
        const parley = new Parley({
          ...credentials,
          maxRetries: 0,
          timeout: 50,
          fetch: (_url, init) =>
            Promise.race([
              answer(),
              new Promise<never>((_resolve, reject) => {
                init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
              }),
            ]),
        });
        const stream = parley.chatStream('demo', { message: 'Hi' });
        const chat = parley.chat('demo', { message: 'Hi' });
        seen.push(parley, stream, chat);
        seen.push(
          await chat.catch((error) => error),
          await stream.finalReply().catch((error) => error),
        );
      }
    }
    // Each client failed, and its error is among the observed ones.
    expect(seen.filter((one) => one instanceof Error).length).toBe(4 * answers.length);
    for (const one of seen) {
      const texts = [
        String(one),
        inspect(one, { depth: null, showHidden: true, getters: true }),
        JSON.stringify(one),
        ...(one instanceof Error ? [one.message, one.stack] : []),
      ];
      for (const text of texts) expect(text).not.toContain(CANARY);
    }
  });
});

describe('an error', () => {
  test('has a name, a status, a code and the id of the request, also in JSON', async () => {
    const body = { error: { code: 'bot_not_found', message: 'No bot.', request_id: 'req_1' } };
    const parley = new Parley({
      apiKey: CANARY,
      fetch: async () => Response.json(body, { status: 404 }),
    });
    const error = await parley.run('demo', 'run_1').catch((reason) => reason);
    const facts = { name: 'NotFoundError', status: 404, code: 'bot_not_found', requestId: 'req_1' };
    expect(JSON.parse(JSON.stringify(error))).toEqual(facts);
    expect(String(error)).toBe('NotFoundError: No bot.');
  });

  test('of a rejected call reaches `withResponse` alone', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const parley = new Parley({
      apiKey: CANARY,
      fetch: async () => Response.json({}, { status: 404 }),
    });
    const call = parley.chat('demo', { message: 'Hi' }).withResponse();
    await expect(call).rejects.toMatchObject({ code: 'http_404' });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test('names the remedy if no server answers', async () => {
    const parley = new Parley({ apiKey: CANARY, baseUrl: 'http://127.0.0.1:1', maxRetries: 0 });
    const error = await parley
      .runs('demo')
      .page()
      .catch((reason) => reason);
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'connection_error' });
    expect(error.message).toBe('Cannot reach http://127.0.0.1:1.');
    expect(error.cause).toBeInstanceOf(Error);
  });
});
