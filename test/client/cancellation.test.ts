import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Parley, RunError, TimeoutError } from '../../src/client/index.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import type { Script } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
let parley: Parley;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
  parley = new Parley({ apiKey: tenant.apiKey, baseUrl: app.url });
  app.upstream.script(endless);
});

/** Begins a reply and never ends it. */
const endless: Script = async ({ say, closed }) => {
  for (const text of ['Once ', 'upon ', 'a time']) say(text);
  await closed;
};

/** Waits until the only run of a session has ended. */
const statusOf = (sessionId: string) =>
  expect.poll(async () => {
    const runs = await app.prisma.run.findMany({ where: { sessionId } });
    return runs.map(({ status }) => status);
  });

/** Lets the test decide when a time limit is over, until the end of the test. */
const fakeTimeouts = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
};

const input = (sessionId: string) => ({ message: 'Tell me a story', sessionId });

describe('a stream cancels its run', () => {
  test('when a loop breaks', async () => {
    const stream = parley.chatStream(bot, input('break'));
    for await (const _delta of stream) break;
    await statusOf('break').toEqual(['CANCELLED']);
    await expect(stream.finalReply()).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('when a loop throws', async () => {
    const read = async () => {
      for await (const _delta of parley.chatStream(bot, input('throw'))) throw new Error('mine');
    };
    await expect(read()).rejects.toThrow('mine');
    await statusOf('throw').toEqual(['CANCELLED']);
  });

  test('when it is aborted, and the server knows when that resolves', async () => {
    const stream = parley.chatStream(bot, input('abort'));
    const deltas: string[] = [];
    for await (const delta of stream) {
      deltas.push(delta);
      if (deltas.length === 3) await stream.abort();
    }
    expect(deltas).toEqual(['Once ', 'upon ', 'a time']);
    const { status } = await parley.run(bot, stream.runId ?? '');
    expect(['running', 'cancelled']).toContain(status);
    await statusOf('abort').toEqual(['CANCELLED']);
  });

  test('when its signal is aborted, and fails with the reason', async () => {
    const abortion = new AbortController();
    const stream = parley.chatStream(bot, input('signal'), { signal: abortion.signal });
    const read = async () => {
      for await (const delta of stream) if (delta === 'a time') abortion.abort(new Error('mine'));
    };
    await expect(read()).rejects.toThrow('mine');
    await expect(stream.finalReply()).rejects.toThrow('mine');
    await statusOf('signal').toEqual(['CANCELLED']);
  });

  test('while the reader of its pieces pauses', async () => {
    const abortion = new AbortController();
    const stream = parley.chatStream(bot, input('pause'), { signal: abortion.signal });
    const iterator = stream[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: 'Once ' });
    abortion.abort();
    await statusOf('pause').toEqual(['CANCELLED']);
    await expect(iterator.next()).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('when no event arrives within its time', async () => {
    fakeTimeouts();
    const read = async () => {
      for await (const delta of parley.chatStream(bot, input('late'), { timeout: 200 }))
        if (delta === 'a time') setImmediate(() => vi.advanceTimersByTime(200));
    };
    await expect(read()).rejects.toBeInstanceOf(TimeoutError);
    await statusOf('late').toEqual(['CANCELLED']);
  });
});

describe('a whole reply cancels its run', () => {
  test('when its signal is aborted', async () => {
    const abortion = new AbortController();
    const chat = parley.chat(bot, input('whole'), { signal: abortion.signal });
    await statusOf('whole').toEqual(['RUNNING']);
    abortion.abort(new Error('mine'));
    await expect(chat).rejects.toThrow('mine');
    await statusOf('whole').toEqual(['CANCELLED']);
  });

  test('when its time is over', async () => {
    const client = new Parley({ apiKey: tenant.apiKey, baseUrl: app.url, timeout: 500 });
    fakeTimeouts();
    const chat = expect(client.chat(bot, input('time'))).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'timeout',
    });
    await statusOf('time').toEqual(['RUNNING']);
    vi.advanceTimersByTime(500);
    await chat;
    await statusOf('time').toEqual(['CANCELLED']);
  });
});

describe('a message that waits for its turn', () => {
  test('is never sent to the model when it is aborted', async () => {
    const first = parley.chatStream(bot, input('queue'))[Symbol.asyncIterator]();
    await first.next();
    const abortion = new AbortController();
    const late = { message: 'Late', sessionId: 'queue' };
    const waiting = [
      parley.chat(bot, late, { signal: abortion.signal }),
      parley.chatStream(bot, late, { signal: abortion.signal }).finalReply(),
    ];
    const failures = Promise.allSettled(waiting);
    await expect.poll(() => app.waiting()).toBe(2);
    abortion.abort(new Error('mine'));
    const reasons = (await failures).map((result) => 'reason' in result && result.reason.message);
    expect(reasons).toEqual(['mine', 'mine']);
    await expect.poll(() => app.waiting()).toBe(0);
    await first.return?.();
    await statusOf('queue').toEqual(['CANCELLED']);
    onTestFinished(() => app.upstream.script(endless));
    // A message after them is the next one that the model reads.
    app.upstream.script(({ say, end }) => {
      say('Next');
      end();
    });
    const next = await parley.chat(bot, { message: 'Next', sessionId: 'queue' });
    expect(next.response).toBe('Next');
    const sent = app.upstream.requests.map(({ body }) => body.messages.at(-1)?.content);
    expect(sent).toContain('Next');
    expect(sent).not.toContain('Late');
  });
});

describe('a message that never reached the server', () => {
  /** Lets no request pass before an abort, and records the statuses of the requests after it. */
  const laterOnly = (abortion: AbortController) => {
    const statuses: number[] = [];
    const send: typeof fetch = async (...request) => {
      if (!abortion.signal.aborted) {
        abortion.abort(new Error('mine'));
        throw abortion.signal.reason;
      }
      const response = await fetch(...request);
      statuses.push(response.status);
      return response;
    };
    return { statuses, fetch: send };
  };

  const CALLS = {
    'a whole reply': (client: Parley, signal: AbortSignal) =>
      client.chat(bot, input('unsent'), { signal }),
    'a streamed reply': (client: Parley, signal: AbortSignal) =>
      client.chatStream(bot, input('unsent'), { signal }).finalReply(),
    'a prompt': (client: Parley, signal: AbortSignal) =>
      client.execute(bot, { prompt: 'Tell me a story' }, { signal }),
  };
  test.each(Object.entries(CALLS))('begins no run when %s is aborted', async (_what, call) => {
    const abortion = new AbortController();
    const { statuses, fetch: later } = laterOnly(abortion);
    const client = new Parley({ apiKey: tenant.apiKey, baseUrl: app.url, fetch: later });
    const runs = () => app.prisma.run.count({ where: { bot: { accountId: tenant.accountId } } });
    const before = await runs();
    await expect(call(client, abortion.signal)).rejects.toThrow('mine');
    await expect.poll(() => statuses).toEqual([404]);
    expect(await runs()).toBe(before);
  });
});

describe('a run that was cancelled elsewhere', () => {
  test('fails its stream, its final reply and its whole reply', async () => {
    const stream = parley.chatStream(bot, input('elsewhere'));
    const read = async () => {
      for await (const delta of stream)
        if (delta === 'a time') await parley.cancel(bot, stream.runId ?? '');
    };
    const facts = { code: 'cancelled', runId: expect.stringMatching(/^run_/) };
    const error = await read().catch((reason) => reason);
    expect(error).toBeInstanceOf(RunError);
    expect(error).toMatchObject(facts);
    await expect(stream.finalReply()).rejects.toBe(error);
  });

  test('fails the result of a background run', async () => {
    const run = await parley.execute(bot, { prompt: 'Tell me a story', background: true });
    const facts = { name: 'RunError', code: 'cancelled' };
    const failure = expect(run.result()).rejects.toMatchObject(facts);
    for await (const { type } of run.events()) if (type === 'text') break;
    expect((await parley.run(bot, run.id)).status).toBe('running');
    await run.cancel();
    await failure;
  });
});

describe('nothing is cancelled or sent', () => {
  test('for a stream that nobody reads', async () => {
    const before = app.upstream.requests.length;
    const stream = parley.chatStream(bot, input('unread'));
    await stream.abort();
    expect(await Array.fromAsync(stream)).toEqual([]);
    await expect(stream.finalReply()).rejects.toMatchObject({ name: 'AbortError' });
    expect(app.upstream.requests.length).toBe(before);
  });

  test('for a signal that is aborted before the call', async () => {
    const signal = AbortSignal.abort(new Error('mine'));
    await expect(parley.chat(bot, input('before'), { signal })).rejects.toThrow('mine');
    const stream = parley.chatStream(bot, input('before'), { signal });
    await expect(stream.finalReply()).rejects.toThrow('mine');
    const client = new Parley({ apiKey: tenant.apiKey, baseUrl: app.url, signal });
    await expect(client.runs(bot).page()).rejects.toThrow('mine');
    await statusOf('before').toEqual([]);
  });
});
