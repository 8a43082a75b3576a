import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import type { PrismaClient } from '../../../src/generated/prisma/client.ts';
import { createReplay } from '../../../src/runs/life/replay.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { testDatabase } from '../../helpers/database.ts';
import { cutError, withMember } from '../../helpers/lossy-database.ts';
import { frames } from '../../helpers/stream.ts';

let app: TestApp;
/** A replica whose every second poll of a run's events fails. */
let failing: TestApp;
let polls = 0;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  const database = await testDatabase();
  const { run } = database.prisma;
  const findUnique = async (query: Parameters<typeof run.findUnique>[0]) => {
    if (!query.select?.events) return run.findUnique(query);
    polls += 1;
    if (polls % 2 === 1) throw cutError();
    return run.findUnique(query);
  };
  const runs = withMember(run, 'findUnique', findUnique);
  app = await startApp();
  failing = await startApp({
    database: { ...database, prisma: withMember(database.prisma, 'run', runs) },
  });
  tenant = await app.tenant();
  bot = await tenant.bot();
});
afterEach(() => vi.useRealTimers());

const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/bots/${bot}/chat`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Begins a streamed chat that sends two words, and the third when the test calls `finish`. */
async function begin(headers: Record<string, string> = {}) {
  const sent = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  app.upstream.script(async ({ say, end }) => {
    for (const word of ['One ', 'two ']) say(word);
    sent.resolve();
    await finish.promise;
    say('three.');
    end();
  });
  const body = { message: 'Count', stream: true };
  const response = await post(app.url, body, { accept: 'text/event-stream', ...headers });
  await sent.promise;
  return { response, runId: response.headers.get('x-run-id') ?? '', finish: finish.resolve };
}

const WHOLE = [
  { delta: 'One ' },
  { delta: 'two ' },
  { delta: 'three.' },
  { event: 'done', run_id: expect.any(String), latency_ms: expect.any(Number) },
];

describe('a reader on a replica whose polls fail now and then', () => {
  test('gets all events of a run', async () => {
    const { response, runId, finish } = await begin();
    const url = `${failing.url}/v1/bots/${bot}/runs/${runId}/events`;
    const followed = await fetch(url, { headers: tenant.headers });
    const before = polls;
    await expect.poll(() => polls).toBeGreaterThan(before + 2);
    finish();
    expect(await frames(response)).toEqual(WHOLE);
    expect(await frames(followed)).toEqual([
      expect.objectContaining({ event: 'run_started' }),
      ...WHOLE,
    ]);
  });

  test('joins a streamed and a whole reply by their idempotency key', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const { response, runId, finish } = await begin(key);
    const accept = { accept: 'text/event-stream' };
    const body = { message: 'Count', stream: true };
    const joined = await post(failing.url, body, { ...key, ...accept });
    expect(joined.headers.get('x-run-id')).toBe(runId);
    const reply = post(failing.url, { message: 'Count' }, key);
    const before = polls;
    await expect.poll(() => polls).toBeGreaterThan(before + 2);
    finish();
    expect(await frames(response)).toEqual(WHOLE);
    expect(await frames(joined)).toEqual(WHOLE);
    expect(await (await reply).json()).toMatchObject({ run_id: runId, response: 'One two three.' });
  });
});

describe('a reader whose polls keep failing', () => {
  test.each([
    ['with pings gets the database error after a minute', false, 60_000],
    ['without pings gets it after 7 seconds', true, 7_000],
  ])('%s', async (_reader, failsFast, limitMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const findUnique = async () => {
      throw cutError();
    };
    const prisma = { run: { findUnique } } as unknown as PrismaClient;
    const activeRuns = { find: () => undefined };
    const replay = createReplay({ prisma, activeRuns, pubsub: createPubSub() });
    const { signal } = new AbortController();
    let failure: unknown;
    const read = Array.fromAsync(replay.read('run_1', 0, signal, { failsFast })).catch(
      (error: unknown) => {
        failure = error;
      },
    );
    await vi.advanceTimersByTimeAsync(limitMs - 1);
    expect(failure).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await read;
    expect(failure).toEqual(cutError());
  });
});
