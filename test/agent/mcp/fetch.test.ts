import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createMcpFetch } from '../../../src/agent/mcp/fetch.ts';

/** A network that returns this response to each request. */
const networkWith = (
  body: string | (() => ReadableStream<Uint8Array>),
  type = 'text/event-stream',
  onStreamEnd = () => {},
) => {
  const signals: (AbortSignal | undefined | null)[] = [];
  const egress = {
    fetch: async (_url: unknown, init?: { signal?: AbortSignal | null }) => {
      signals.push(init?.signal);
      const content = typeof body === 'string' ? body : body();
      return new Response(content, { headers: { 'content-type': type } });
    },
  };
  return { fetch: createMcpFetch(egress, onStreamEnd), signals };
};
const post = (message: object, signal?: AbortSignal) => ({
  method: 'POST',
  body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  signal,
});
const request = post({ id: 7, method: 'tools/call', params: {} });
const URL = 'https://mcp.example/';

const CONNECTION_CLOSED =
  '\n\ndata: {"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"Connection closed"}}\n\n';

describe('the fetch function of an MCP client', () => {
  test('appends an error response if the stream of a request ends', async () => {
    const { fetch } = networkWith('data: {}\n\n');
    expect(await (await fetch(URL, request)).text()).toBe(`data: {}\n\n${CONNECTION_CLOSED}`);
  });

  test('appends an error response if the stream breaks', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('Reset.')),
    });
    const { fetch } = networkWith(() => broken);
    expect(await (await fetch(URL, request)).text()).toBe(CONNECTION_CLOSED);
  });

  test.each(['id: 1\ndata: \n\n', ': hello\r\nid:1\r\n\r\n'])(
    'appends nothing to a stream that can be resumed: %j',
    async (text) => {
      const { fetch } = networkWith(text);
      const normalized = text.replaceAll('\r\n', '\n');
      expect(await (await fetch(URL, request)).text()).toBe(normalized);
      const inBytes = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const byte of Buffer.from(text)) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      });
      const slow = networkWith(() => inBytes);
      expect(await (await slow.fetch(URL, request)).text()).toBe(normalized);
    },
  );

  test('appends nothing to JSON, and nothing to responses to notifications', async () => {
    const json = networkWith('{}', 'application/json');
    expect(await (await json.fetch(URL, request)).text()).toBe('{}');
    const { fetch } = networkWith('data: {}\n\n');
    const notification = post({ method: 'notifications/initialized' });
    expect(await (await fetch(URL, notification)).text()).toBe('data: {}\n\n');
  });

  test.each<[string, number, Parameters<ReturnType<typeof networkWith>['fetch']>[1]]>([
    ['a call', 4 * 1024, request],
    ['a listing', 1024, post({ id: 8, method: 'tools/list', params: {} })],
    ['an initialization', 64, post({ id: 9, method: 'initialize', params: {} })],
    ['a resumed stream', 1024, { method: 'GET', headers: { 'last-event-id': '1' } }],
    ['a notification stream', 256, { method: 'GET' }],
  ])('cancels the response to %s beyond %d KiB', async (_what, kib, init) => {
    const whole = networkWith('x'.repeat(kib * 1024), 'application/json');
    expect((await (await whole.fetch(URL, init)).text()).length).toBe(kib * 1024);
    const longer = networkWith('x'.repeat(kib * 1024 + 1), 'application/json');
    const response = await longer.fetch(URL, init);
    await expect(response.text()).rejects.toMatchObject({ code: 'broken-answer' });
  });

  test('cancels a listing whose pages together exceed 1 MiB', async () => {
    const { fetch } = networkWith('x'.repeat(600 * 1024), 'application/json');
    const page = (cursor?: string) =>
      fetch(URL, post({ id: 1, method: 'tools/list', params: { cursor } }));
    await (await page()).text();
    await expect(page('2').then((answer) => answer.text())).rejects.toMatchObject({
      code: 'broken-answer',
    });
    await (await page()).text();
  });

  test('refuses a batch of messages, because it sent none', async () => {
    const { fetch } = networkWith(' [{}, {}]', 'application/json');
    const response = await fetch(URL, request);
    await expect(response.text()).rejects.toMatchObject({ code: 'broken-answer' });
  });

  test('reads at most 4,096 lines of an event stream, because each costs the client time', async () => {
    const within = networkWith('data:1\r\n\r\n'.repeat(2_048));
    expect(await (await within.fetch(URL, { method: 'GET' })).text()).toBe(
      'data:1\n\n'.repeat(2_048),
    );
    const beyond = networkWith(`${'data:1\n\n'.repeat(2_048)}\n`);
    const stream = await beyond.fetch(URL, { method: 'GET' });
    await expect(stream.text()).rejects.toMatchObject({ code: 'broken-answer' });
    expect(await (await beyond.fetch(URL, request)).text()).toBe(CONNECTION_CLOSED);
  });

  test('sends at most 8 concurrent responses to the server’s own requests', async () => {
    const never = { fetch: () => new Promise<Response>(() => {}) };
    const fetch = createMcpFetch(never, () => {});
    const reply = (id: number) => fetch(URL, post({ id, result: {} }));
    const outcomes = Array.from({ length: 9 }, (_, id) => reply(id));
    await expect(outcomes[8]).rejects.toMatchObject({ code: 'broken-answer' });
  });

  test('aborts a request that the client cancels, and no other', async () => {
    const { fetch, signals } = networkWith(() => new ReadableStream());
    const cancel = (requestId: number) =>
      fetch(URL, post({ method: 'notifications/cancelled', params: { requestId } }));
    await fetch(URL, request);
    await cancel(8);
    expect(signals[0]?.aborted).toBe(false);
    await cancel(7);
    expect(signals[0]?.aborted).toBe(true);
  });

  test('reports the end of the notification stream', async () => {
    let streamEnds = 0;
    const { fetch } = networkWith('data: {}\n\n', 'text/event-stream', () => {
      streamEnds += 1;
    });
    await (await fetch(URL, request)).text();
    expect(streamEnds).toBe(0);
    expect(await (await fetch(URL, { method: 'GET' })).text()).toBe('data: {}\n\n');
    expect(streamEnds).toBe(1);
  });

  test('does not reopen the notification stream at once after the server closed it', async () => {
    const { fetch, signals } = networkWith('');
    const client = new AbortController();
    await fetch(URL, { method: 'GET', signal: client.signal });
    const second = fetch(URL, { method: 'GET', signal: client.signal });
    await setImmediate();
    expect(signals).toHaveLength(1);
    client.abort();
    await expect(second).rejects.toThrow('aborted');
    expect(signals).toHaveLength(1);
  });
});
