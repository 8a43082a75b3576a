import Fastify from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import type { CompletionEventFragment } from '../../src/generated/operations/openai.ts';
import type { StreamedEventFragment } from '../../src/generated/operations/rest.ts';
import { clientSignal } from '../../src/transport/http.ts';
import { COMPLETION } from '../../src/transport/openai/completion-encoder.ts';
import { REPLY } from '../../src/transport/rest/frame-encoder.ts';
import { streamEvents } from '../../src/transport/rest/sse.ts';
import type { StreamForm } from '../../src/transport/rest/stream-form.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Options = { chunks?: string[]; asked?: unknown; pingAfterMs?: number };

/** A server that streams the test's events, with short intervals unless the test says otherwise, and records the chunks. */
const serve = (start: () => Promise<AsyncIterable<StreamedEventFragment>>, options?: Options) =>
  serveIn(REPLY, start, options);

const serveIn = async <Event extends { type: string }>(
  form: StreamForm<Event>,
  start: () => Promise<AsyncIterable<Event>>,
  { chunks = [], asked, pingAfterMs = 20 }: Options = {},
) => {
  const app = Fastify({ forceCloseConnections: true });
  const results = async () => {
    const events = await start();
    return (async function* () {
      for await (const event of events) yield { event };
    })();
  };
  app.get('/', async (_request, reply) => {
    const write = reply.raw.write.bind(reply.raw);
    reply.raw.write = (chunk: string) => {
      chunks.push(chunk);
      return write(chunk);
    };
    const limits = { pingAfterMs, headersWithinMs: 20 };
    await streamEvents(reply, form, results, clientSignal(reply), { asked, ...limits });
    return reply;
  });
  closing.push(() => app.close());
  return fetch(await app.listen());
};

describe('a stream of frames', () => {
  test('sends its headers while its run still waits for its turn', async () => {
    const turn = Promise.withResolvers<void>();
    const response = await serve(async () => {
      await turn.promise;
      return (async function* () {
        yield { type: 'RunStarted', runId: 'run_1' } as const;
        yield { type: 'ChatDone', latencyMs: 7 } as const;
      })();
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    turn.resolve();
    expect(await response.text()).toContain(
      'data: {"event":"done","run_id":"run_1","latency_ms":7}\n\n',
    );
  });

  test('sends comments while there are no events', async () => {
    const continueEvents = Promise.withResolvers<void>();
    const response = await serve(async () =>
      (async function* () {
        yield { type: 'TextDelta', delta: 'Well' } as const;
        await continueEvents.promise;
        yield { type: 'ChatDone', latencyMs: 7 } as const;
      })(),
    );
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.split(': ping\n\n').length > 2) continueEvents.resolve();
    }
    expect(text).toMatch(/^data: \{"delta":"Well"\}\n\n(: ping\n\n){2,}data: \{"event":"done"/);
  });

  test('sends comments in a stream of OpenAI’s API too', async () => {
    const continueEvents = Promise.withResolvers<void>();
    const response = await serveIn(
      COMPLETION,
      async () =>
        (async function* (): AsyncGenerator<CompletionEventFragment> {
          yield { type: 'TextDelta', delta: 'Well' };
          await continueEvents.promise;
          yield { type: 'TextDelta', delta: 'done' };
        })(),
      { asked: { model: 'demo', includesUsage: false } },
    );
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.split(': ping\n\n').length > 2) continueEvents.resolve();
      if (text.includes('done')) break;
    }
    expect(text).toMatch(
      /"content":"Well"\}[^\n]*\n\n(: ping\n\n){2,}data: \{[^\n]*"content":"done"/,
    );
  });

  test('sends simultaneous events in one chunk, up to a size', async () => {
    const deltas = (...lengths: number[]) =>
      lengths.map((length) => ({ type: 'TextDelta', delta: 'x'.repeat(length) }) as const);
    const next = Promise.withResolvers<void>();
    const chunks: string[] = [];
    const response = await serve(
      async () =>
        (async function* () {
          yield* deltas(1, 2, 3);
          await next.promise;
          yield* deltas(10_000, 10_000, 10_000);
          yield { type: 'ChatDone', latencyMs: 7 } as const;
        })(),
      // No comment between the chunks, even on a slow machine.
      { chunks, pingAfterMs: 300_000 },
    );
    await expect.poll(() => chunks.length).toBe(1);
    next.resolve();
    const text = await response.text();
    const frames = (chunk: string) => chunk.split('\n\n').length - 1;
    expect(chunks.map(frames)).toEqual([3, 2, 2]);
    expect(chunks.join('')).toBe(text);
    expect(text).toContain(`{"delta":"${'x'.repeat(10_000)}"}`);
  });

  test('that breaks after its headers ends with an error frame and a done frame', async () => {
    const response = await serve(async () =>
      (async function* () {
        yield { type: 'RunStarted', runId: 'run_1' } as const;
        yield { type: 'TextDelta', delta: 'Well' } as const;
        throw new Error('canary');
      })(),
    );
    const text = await response.text();
    expect(text).toContain('"event":"error","delta":"","error":{"code":"internal_error"');
    expect(text).toMatch(
      /"event":"done","run_id":"run_1","latency_ms":\d+,"status":"failed"\}\n\n$/,
    );
    expect(text).not.toContain('canary');
  });

  test.each([
    ['is closed without a done frame if the database does not respond', true],
    ['is closed without a done frame if the end of its run is unknown', false],
  ])('%s', async (_reason, throws) => {
    const response = await serve(async () =>
      (async function* () {
        yield { type: 'RunStarted', runId: 'run_1' } as const;
        yield { type: 'TextDelta', delta: 'Well' } as const;
        if (throws) throw new Error('Connection terminated unexpectedly');
      })(),
    );
    let text = '';
    const read = async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    };
    await expect(read()).rejects.toThrow('terminated');
    expect(text).toBe('data: {"delta":"Well"}\n\n');
  });
});

test('a client that has already disconnected is noticed', () => {
  const raw = { destroyed: true, once: () => {} };
  expect(clientSignal({ raw } as never).aborted).toBe(true);
});
