import { once } from 'node:events';
import { beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { createPubSub, createRedisPubSub } from '../../src/coordination/pubsub.ts';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import { createActiveRuns } from '../../src/runs/active-runs.ts';
import { createReplay } from '../../src/runs/replay.ts';
import { READ_CHANNEL, runChannel } from '../../src/runs/run-channel.ts';
import { startApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { linkRedis } from '../helpers/redis.ts';
import { frames } from '../helpers/stream.ts';

describe('a run whose last reader here has left', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    atTheEnd(() => vi.useRealTimers());
  });

  /** A run at work that has a reader here, and may have some elsewhere. */
  const startRun = () => {
    const pubsub = createPubSub();
    const readElsewhere = () => pubsub.publish(READ_CHANNEL, 'run');
    const asked = vi.fn();
    pubsub.subscribe(runChannel('run'), asked);
    const place = createActiveRuns({ pubsub }).acquireSlot();
    const run = place.start({ id: 'run', botId: 'bot' }, async (_log, signal) => {
      await once(signal, 'abort');
    });
    const read = () => {
      const reader = new AbortController();
      run.read(reader.signal);
      return () => reader.abort();
    };
    return { pubsub, read, readElsewhere, asked, isStopped: () => place.signal.aborted };
  };

  test('stops at once where nobody reads it elsewhere', () => {
    const { read, isStopped } = startRun();
    read()();
    expect(isStopped()).toBe(true);
  });

  test('goes on for as long as those who read it elsewhere say so when they are asked', () => {
    const { read, readElsewhere, asked, isStopped } = startRun();
    asked.mockImplementation(readElsewhere);
    readElsewhere();
    read()();
    vi.advanceTimersByTime(60_000);
    expect(isStopped()).toBe(false);
    asked.mockReset();
    vi.advanceTimersByTime(1_000);
    expect(isStopped()).toBe(true);
  });

  test('goes on for one elsewhere that is slow to take what it reads', async () => {
    const { pubsub, read, isStopped } = startRun();
    const begun = { status: 'RUNNING', startedAt: new Date(), events: null, response: null };
    const row = { id: 'run', sessionId: null, errorCode: null, ...begun };
    const prisma = { run: { findUnique: async () => row } } as unknown as PrismaClient;
    const elsewhere = createReplay({ prisma, activeRuns: { find: () => undefined }, pubsub });
    const reading = elsewhere.read('run', 0, new AbortController().signal);
    await reading[Symbol.asyncIterator]().next();
    read()();
    vi.advanceTimersByTime(60_000);
    expect(isStopped()).toBe(false);
  });

  test('goes on where it is read here again', () => {
    const { read, readElsewhere, isStopped } = startRun();
    readElsewhere();
    read()();
    const leave = read();
    vi.advanceTimersByTime(60_000);
    expect(isStopped()).toBe(false);
    leave();
    expect(isStopped()).toBe(true);
  });
});

describe.skipIf(!inject('redisUrl'))('a run that is read on another replica', () => {
  test.each([
    ['by its events', false],
    ['by the same request again', true],
  ])('%s, goes on when its client goes away', async (_way, isRepeated) => {
    const links = [await linkRedis(), await linkRedis()] as const;
    const app = await startApp({ redis: links[0].redis });
    const other = await startApp({ redis: links[1].redis });
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const finish = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end, closed }) => {
      say('One ');
      await Promise.race([finish.promise, closed]);
      say('two.');
      end();
    });
    const headers = { ...tenant.headers, accept: 'text/event-stream' };
    const chat = (url: string, signal?: AbortSignal) =>
      fetch(`${url}/v1/bots/${bot}/chat`, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'x-session-id': 's',
          'x-on-disconnect': 'cancel',
          'idempotency-key': 'k',
        },
        body: JSON.stringify({ message: 'Count', stream: true }),
        signal: signal ?? null,
      });
    const leaving = new AbortController();
    const left = await chat(app.url, leaving.signal);
    const runId = left.headers.get('x-run-id') ?? '';
    const read = isRepeated
      ? await chat(other.url)
      : await fetch(`${other.url}/v1/bots/${bot}/runs/${runId}/events`, { headers });
    const words: string[] = [];
    createRedisPubSub(links[0].redis).subscribe(READ_CHANNEL, (id) => void words.push(id));
    await expect.poll(() => words).toContain(runId);
    leaving.abort();
    // It is asked for them, and goes on, time after time.
    const before = words.length;
    await expect.poll(() => words.length).toBeGreaterThan(before + 3);
    finish.resolve();
    expect((await frames(read)).at(-1)).not.toHaveProperty('status');
  });
});
