import { once } from 'node:events';
import { beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { createPubSub, createRedisPubSub } from '../../../src/coordination/pubsub.ts';
import type { PrismaClient } from '../../../src/generated/prisma/client.ts';
import { createActiveRuns } from '../../../src/runs/life/active-runs.ts';
import { createReplay } from '../../../src/runs/life/replay.ts';
import { READ_CHANNEL, runChannel } from '../../../src/runs/record/run-channel.ts';
import { startApp } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { linkRedis } from '../../helpers/redis.ts';
import { frames } from '../../helpers/stream.ts';

describe('a run after its last local reader left', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    atTheEnd(() => vi.useRealTimers());
  });

  /** A running run with a reader on this replica. Other replicas may also have readers. */
  const startRun = () => {
    const pubsub = createPubSub();
    const readElsewhere = () => pubsub.publish(READ_CHANNEL, 'run');
    const readerPoll = vi.fn();
    pubsub.subscribe(runChannel('run'), readerPoll);
    const slot = createActiveRuns({ pubsub }).acquireSlot();
    const run = slot.start({ id: 'run', botId: 'bot', now: Date.now }, async (_log, signal) => {
      await once(signal, 'abort');
    });
    const read = () => {
      const reader = new AbortController();
      run.read(reader.signal);
      return () => reader.abort();
    };
    return { pubsub, read, readElsewhere, readerPoll, isStopped: () => slot.signal.aborted };
  };

  test('is cancelled at once if no other replica has a reader', () => {
    const { read, isStopped } = startRun();
    read()();
    expect(isStopped()).toBe(true);
  });

  test('continues as long as another replica reports a reader when polled', () => {
    const { read, readElsewhere, readerPoll, isStopped } = startRun();
    readerPoll.mockImplementation(readElsewhere);
    readElsewhere();
    read()();
    vi.advanceTimersByTime(60_000);
    expect(isStopped()).toBe(false);
    readerPoll.mockReset();
    vi.advanceTimersByTime(1_000);
    expect(isStopped()).toBe(true);
  });

  test('continues while a reader on another replica consumes slowly', async () => {
    const { pubsub, read, isStopped } = startRun();
    const begun = { status: 'RUNNING', startedAt: new Date(), events: null, response: null };
    const row = { id: 'run', attempt: 1, sessionId: null, errorCode: null, ...begun };
    const run = { findUnique: async () => row };
    const prisma = { run, $queryRaw: async () => [] } as unknown as PrismaClient;
    const elsewhere = createReplay({ prisma, activeRuns: { find: () => undefined }, pubsub });
    const reading = elsewhere.read('run', 0, new AbortController().signal);
    await reading[Symbol.asyncIterator]().next();
    read()();
    vi.advanceTimersByTime(60_000);
    expect(isStopped()).toBe(false);
  });

  test('continues if a local reader joins again', () => {
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
  /**
   * Holds up all waits for readers on other replicas: on a busy machine, none may announce itself within half a second.
   *
   * @returns functions that end the waits so far.
   */
  const holdWaits = () => {
    const waits: (() => void)[] = [];
    const { setTimeout } = globalThis;
    const longest = 2 ** 31 - 1;
    const held = (end: () => void, delay?: number, ...args: []) => {
      if (end.name !== 'cancelUnread') return setTimeout(end, delay, ...args);
      waits.push(end);
      return setTimeout(end, longest);
    };
    const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(held as typeof setTimeout);
    atTheEnd(() => spy.mockRestore());
    return waits;
  };

  test.each([
    ['when its events are followed', false],
    ['when the request is repeated', true],
  ])('continues after its client disconnects %s', async (_way, isRepeated) => {
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
    const reports: string[] = [];
    createRedisPubSub(links[0].redis).subscribe(READ_CHANNEL, (id) => void reports.push(id));
    await expect.poll(() => reports).toContain(runId);
    const waits = holdWaits();
    leaving.abort();
    // The replica polls for readers several times, and the run continues.
    for (const count of [1, 2, 3]) {
      await expect.poll(() => waits.length).toBeGreaterThanOrEqual(count);
      const before = reports.length;
      await expect.poll(() => reports.length).toBeGreaterThan(before);
      waits.at(-1)?.();
    }
    finish.resolve();
    expect((await frames(read)).at(-1)).not.toHaveProperty('status');
  });
});
