import { EventSource, type FetchLike } from 'eventsource';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

type Frame = { event?: string; delta?: string; run_id?: string };

/** A request of an EventSource, and a function that drops its connection. */
type Connection = { lastEventId: string | null; status: number; drop(): void };

/**
 * Opens an EventSource with the tenant's key. It reconnects after 1 ms instead of 3 s, by a `retry` line before the
 * frames.
 */
function open(path: string, headers: Record<string, string> = {}) {
  const connections: Connection[] = [];
  const frames: Frame[] = [];
  const connect: FetchLike = async (url, init) => {
    const connection = new AbortController();
    const sent = new Headers({ ...init.headers, ...tenant.headers, ...headers });
    const answer = await fetch(url, {
      headers: sent,
      signal: AbortSignal.any([connection.signal, ...(init.signal ? [init.signal] : [])]),
    });
    const dropped = Promise.withResolvers<void>();
    connections.push({
      lastEventId: sent.get('last-event-id'),
      status: answer.status,
      drop: () => {
        dropped.resolve();
        connection.abort();
      },
    });
    if (!answer.body) return answer;
    const body = withRetry(answer.body, dropped.promise);
    return new Response(body, answer);
  };
  const source = new EventSource(`${app.url}/v1/bots/${bot}/${path}`, { fetch: connect });
  const stopped = new Promise<void>((resolve) => {
    source.addEventListener('error', () => {
      if (source.readyState === source.CLOSED) resolve();
    });
  });
  source.addEventListener('message', ({ data }) => frames.push(JSON.parse(data)));
  return { source, connections, frames, stopped };
}

/** The bytes of a stream, cut off without an error when the connection drops. */
function withRetry(stream: ReadableStream<Uint8Array>, dropped: Promise<void>) {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('retry: 1\n\n')),
    async pull(controller) {
      const read = await Promise.race([reader.read(), dropped]).catch(() => undefined);
      if (read?.value) controller.enqueue(read.value);
      else controller.close();
    },
  });
}

/** Makes the model say two words, and one more after `go`. */
function speakSlowly() {
  const go = Promise.withResolvers<void>();
  let asked = 0;
  app.upstream.script(async ({ say, end, closed }) => {
    asked += 1;
    say('One ');
    say('two ');
    await Promise.race([go.promise, closed]);
    say('three.');
    end();
  });
  return { go: go.resolve, asked: () => asked };
}

const textOf = (frames: Frame[]) => frames.map(({ delta = '' }) => delta).join('');

describe('an EventSource', () => {
  test('reads the events of a run over lost connections, each once, and stops at 204', async () => {
    const model = speakSlowly();
    const chat = await tenant.chat(
      bot,
      { message: 'Count', stream: true },
      { accept: 'text/event-stream' },
    );
    const { source, connections, frames, stopped } = open(
      `runs/${chat.headers.get('x-run-id')}/events`,
    );
    await expect.poll(() => textOf(frames)).toBe('One two ');
    connections[0]?.drop();
    await expect.poll(() => connections.length).toBe(2);
    model.go();
    await chat.text();
    await stopped;
    expect(textOf(frames)).toBe('One two three.');
    expect(frames.filter(({ event }) => event === 'done')).toHaveLength(1);
    expect(source.readyState).toBe(source.CLOSED);
    expect(connections.map(({ status, lastEventId }) => [status, lastEventId])).toEqual([
      [200, null],
      [200, '3'],
      [204, '5'],
    ]);
  });

  test.each([
    ['in the query', '&idempotency_key=order-1', {}],
    ['in the header', '', { 'idempotency-key': 'order-2' }],
  ])(
    'with an idempotency key %s joins its run from the first frame',
    async (_place, query, headers) => {
      const model = speakSlowly();
      const { source, connections, frames } = open(`chat/stream?message=Count${query}`, headers);
      let reply = '';
      source.addEventListener('open', () => {
        reply = '';
      });
      source.addEventListener('message', ({ data }) => {
        const frame: Frame = JSON.parse(data);
        reply += frame.delta ?? '';
        if (frame.event === 'done') source.close();
      });
      await expect.poll(() => reply).toBe('One two ');
      connections[0]?.drop();
      await expect.poll(() => connections.length).toBe(2);
      await expect.poll(() => reply).toBe('One two ');
      model.go();
      await expect.poll(() => source.readyState).toBe(source.CLOSED);
      expect(reply).toBe('One two three.');
      expect(model.asked()).toBe(1);
      expect(frames.at(-1)).toMatchObject({
        event: 'done',
        run_id: expect.stringMatching(/^run_/),
      });
      expect(frames.at(-1)).not.toHaveProperty('status');
    },
  );

  test('without a key begins a new run when it reconnects', async () => {
    const model = speakSlowly();
    const { source, connections, frames } = open('chat/stream?message=Count');
    await expect.poll(() => textOf(frames)).toBe('One two ');
    connections[0]?.drop();
    await expect.poll(() => textOf(frames)).toBe('One two One two ');
    source.close();
    model.go();
    expect(model.asked()).toBe(2);
  });
});

describe('an idempotency key in the query', () => {
  const ask = (query: string, headers = {}) =>
    fetch(`${app.url}/v1/bots/${bot}/chat/stream?${query}`, {
      headers: { ...tenant.headers, ...headers },
    });

  test('is the key of the header', async () => {
    app.upstream.script(({ say, end }) => {
      say('Hi.');
      end();
    });
    const first = await ask('message=Hi&idempotency_key=both');
    const again = await ask('message=Hi', { 'idempotency-key': 'both' });
    expect(again.headers.get('x-run-id')).toBe(first.headers.get('x-run-id'));
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.text()).toBe(await first.text());
    const same = await ask('message=Hi&idempotency_key=both', { 'idempotency-key': 'both' });
    expect(same.status).toBe(200);
    await same.text();
  });

  test.each([
    ['idempotency_key=a%20b', {}, 'idempotency_key'],
    ['idempotency_key=', {}, 'idempotency_key'],
    ['idempotency_key=a&idempotency_key=a', {}, 'idempotency_key'],
    ['idempotency_key=a', { 'idempotency-key': 'b' }, 'idempotency_key'],
  ])('is refused: %s', async (query, headers, path) => {
    const answer = await ask(`message=Hi&${query}`, headers);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { code: 'invalid_request', details: [{ path }] },
    });
  });
});
