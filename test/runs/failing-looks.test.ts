import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import { createReplay } from '../../src/runs/replay.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { cutError, withMember } from '../helpers/lossy-database.ts';
import { frames } from '../helpers/stream.ts';

let app: TestApp;
/** A replica whose every second look at a run's events fails. */
let failing: TestApp;
let looks = 0;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  const database = await testDatabase();
  const { run } = database.prisma;
  const findUnique = async (query: Parameters<typeof run.findUnique>[0]) => {
    if (!query.select?.events) return run.findUnique(query);
    looks += 1;
    if (looks % 2 === 1) throw cutError();
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

/** Begins a streamed chat that says two words, and the last one when the test lets it. */
async function begin(headers: Record<string, string> = {}) {
  const said = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  app.upstream.script(async ({ say, end }) => {
    for (const word of ['One ', 'two ']) say(word);
    said.resolve();
    await finish.promise;
    say('three.');
    end();
  });
  const body = { message: 'Count', stream: true };
  const response = await post(app.url, body, { accept: 'text/event-stream', ...headers });
  await said.promise;
  return { response, runId: response.headers.get('x-run-id') ?? '', finish: finish.resolve };
}

const WHOLE = [
  { delta: 'One ' },
  { delta: 'two ' },
  { delta: 'three.' },
  { event: 'done', run_id: expect.any(String), latency_ms: expect.any(Number) },
];

describe('a reader on a replica whose looks fail', () => {
  test('gets the events of a run as they are', async () => {
    const { response, runId, finish } = await begin();
    const url = `${failing.url}/v1/bots/${bot}/runs/${runId}/events`;
    const followed = await fetch(url, { headers: tenant.headers });
    const before = looks;
    await expect.poll(() => looks).toBeGreaterThan(before + 2);
    finish();
    expect(await frames(response)).toEqual(WHOLE);
    expect(await frames(followed)).toEqual([
      expect.objectContaining({ event: 'run_started' }),
      ...WHOLE,
    ]);
  });

  test('joins a stream, and a whole reply, by their idempotency key', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const { response, runId, finish } = await begin(key);
    const accept = { accept: 'text/event-stream' };
    const body = { message: 'Count', stream: true };
    const joined = await post(failing.url, body, { ...key, ...accept });
    expect(joined.headers.get('x-run-id')).toBe(runId);
    const reply = post(failing.url, { message: 'Count' }, key);
    const before = looks;
    await expect.poll(() => looks).toBeGreaterThan(before + 2);
    finish();
    expect(await frames(response)).toEqual(WHOLE);
    expect(await frames(joined)).toEqual(WHOLE);
    expect(await (await reply).json()).toMatchObject({ run_id: runId, response: 'One two three.' });
  });
});

describe('a reader whose looks fail for too long', () => {
  test.each([
    ['who has pings gets the error of the database after a minute', false, 60_000],
    ['who has none gets it after 7 seconds', true, 7_000],
  ])('%s', async (_who, isImpatient, limitMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const findUnique = async () => {
      throw cutError();
    };
    const prisma = { run: { findUnique } } as unknown as PrismaClient;
    const activeRuns = { find: () => undefined };
    const replay = createReplay({ prisma, activeRuns, pubsub: createPubSub() });
    const { signal } = new AbortController();
    let failure: unknown;
    const read = Array.fromAsync(replay.read('run_1', 0, signal, { isImpatient })).catch(
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
