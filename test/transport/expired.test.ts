import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import {
  eventsOf,
  GRAPHQL_READERS,
  overWebSocket,
  REST_READERS,
  type Reader,
  readWhole,
} from '../helpers/readers.ts';

const HOUR = 3_600_000;

let app: TestApp;
let tenant: Tenant;
let bot: string;
/** The milliseconds by which the server's clock is ahead. */
let ahead = 0;
let sendText: () => void;
let finish: () => void;
beforeAll(async () => {
  app = await startApp({ clock: () => Date.now() + ahead });
  tenant = await app.tenant();
  bot = await tenant.bot();
});
beforeEach(() => {
  const finished = Promise.withResolvers<void>();
  finish = finished.resolve;
  app.upstream.script(async ({ say, end, closed }) => {
    sendText = () => say('Hello');
    sendText();
    await Promise.race([finished.promise, closed]);
    end();
  });
});

const keyFor = (milliseconds: number) =>
  tenant.key({ expiresAt: new Date(Date.now() + ahead + milliseconds) });

const tokenFor = async (milliseconds: number) => {
  const { data } = await tenant.graphql(
    `mutation ($input: CreateSessionTokenInput!) { createSessionToken(input: $input) { token } }`,
    { input: { botId: bot, sessionId: crypto.randomUUID(), expiresIn: milliseconds / 1_000 } },
  );
  return data.createSessionToken.token as string;
};

const statusOf = async (id = '') =>
  (await app.prisma.run.findUniqueOrThrow({ where: { id } })).status;

/** Reads with a credential that is valid for an hour: until shortly before its expiry, when the bot sends more, and past it. */
async function outlive(reader: Reader, secret: string) {
  let steps = 0;
  return readWhole(reader({ app, bot, secret }), () => {
    steps += 1;
    if (steps === 1) {
      ahead += HOUR - 60_000;
      sendText();
    } else ahead += 60_000;
  });
}

describe('when a session token expires', () => {
  test.each(Object.entries(GRAPHQL_READERS))(
    'its subscriptions over %s end, not earlier',
    async (_way, reader) => {
      const { items, runId } = await outlive(reader, await tokenFor(HOUR));
      expect(items).toEqual(['RunStarted', 'TextDelta', 'TextDelta', 'INVALID_API_KEY']);
      await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
    },
  );

  test('its WebSockets are closed with 4403, not earlier', async () => {
    const { items, runId } = await outlive(overWebSocket, await tokenFor(HOUR));
    expect(items).toEqual(['RunStarted', 'TextDelta', 'TextDelta', '4403 Forbidden']);
    await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
  });

  test('streams of the key that issued it continue', async () => {
    const key = await tenant.key();
    const reader = GRAPHQL_READERS['graphql-sse'];
    const began = Promise.withResolvers<void>();
    const ofKey = readWhole(reader({ app, bot, secret: key }), began.resolve);
    await began.promise;
    expect((await outlive(reader, await tokenFor(HOUR))).items.at(-1)).toBe('INVALID_API_KEY');
    finish();
    expect((await ofKey).items.at(-1)).toBe('ChatDone');
  });
});

describe('when a key expires', () => {
  test.each(Object.entries(GRAPHQL_READERS))(
    'its subscriptions over %s end, not earlier',
    async (_way, reader) => {
      const { items, runId } = await outlive(reader, await keyFor(HOUR));
      expect(items).toEqual(['RunStarted', 'TextDelta', 'TextDelta', 'INVALID_API_KEY']);
      await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
    },
  );

  test.each(Object.entries(REST_READERS))(
    'its streams by %s end, not earlier',
    async (_way, reader) => {
      const { items, runId } = await outlive(reader, await keyFor(HOUR));
      expect(items).toEqual(['delta', 'delta', 'error invalid_api_key', 'done failed']);
      await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
    },
  );

  test('its event streams end, not earlier', async () => {
    const answer = await tenant.chat(
      bot,
      { message: 'Hi', stream: true },
      { accept: 'text/event-stream' },
    );
    const runId = answer.headers.get('x-run-id') ?? '';
    const { items } = await outlive(eventsOf(runId), await keyFor(HOUR));
    const ending = ['error invalid_api_key', 'done failed'];
    expect(items).toEqual(['run_started', 'delta', 'delta', ...ending]);
    expect(await statusOf(runId)).toBe('RUNNING');
    finish();
    await answer.text();
  });
});

test('a key that is valid for a hundred days does not count as expired', async () => {
  const secret = await keyFor(100 * 24 * HOUR);
  const ofAnHour = await keyFor(HOUR);
  const reader = REST_READERS['POST chat'];
  const began = Promise.withResolvers<void>();
  const long = readWhole(reader({ app, bot, secret }), began.resolve);
  await began.promise;
  // Both expiries are checked together.
  expect((await outlive(reader, ofAnHour)).items.at(-1)).toBe('done failed');
  finish();
  expect((await long).items).toEqual(['delta', 'done']);
});
