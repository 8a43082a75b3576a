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
/** How far the server's clock is ahead. */
let ahead = 0;
let speak: () => void;
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
    speak = () => say('Hello');
    speak();
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

/** Reads with what holds for an hour: past most of it, at which the bot says something more, and then past its end. */
async function outlive(reader: Reader, secret: string) {
  let steps = 0;
  return readWhole(reader({ app, bot, secret }), () => {
    steps += 1;
    if (steps === 1) {
      ahead += HOUR - 60_000;
      speak();
    } else ahead += 60_000;
  });
}

describe('when a session token expires', () => {
  test.each(Object.entries(GRAPHQL_READERS))(
    'its subscriptions over %s end, and not before',
    async (_way, reader) => {
      const { told, runId } = await outlive(reader, await tokenFor(HOUR));
      expect(told).toEqual(['RunStarted', 'TextDelta', 'TextDelta', 'INVALID_API_KEY']);
      await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
    },
  );

  test('its WebSockets are closed with 4403, and not before', async () => {
    const { told, runId } = await outlive(overWebSocket, await tokenFor(HOUR));
    expect(told).toEqual(['RunStarted', 'TextDelta', 'TextDelta', '4403 Forbidden']);
    await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
  });

  test('what the key that made it has open goes on', async () => {
    const key = await tenant.key();
    const reader = GRAPHQL_READERS['graphql-sse'];
    const ofKey = readWhole(reader({ app, bot, secret: key }), () => {});
    expect((await outlive(reader, await tokenFor(HOUR))).told.at(-1)).toBe('INVALID_API_KEY');
    finish();
    expect((await ofKey).told.at(-1)).toBe('ChatDone');
  });
});

describe('when a key expires', () => {
  test.each(Object.entries(GRAPHQL_READERS))(
    'its subscriptions over %s end, and not before',
    async (_way, reader) => {
      const { told, runId } = await outlive(reader, await keyFor(HOUR));
      expect(told).toEqual(['RunStarted', 'TextDelta', 'TextDelta', 'INVALID_API_KEY']);
      await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
    },
  );

  test.each(Object.entries(REST_READERS))(
    'its streams by %s end, and not before',
    async (_way, reader) => {
      const { told, runId } = await outlive(reader, await keyFor(HOUR));
      expect(told).toEqual(['delta', 'delta', 'error invalid_api_key', 'done failed']);
      await expect.poll(() => statusOf(runId)).toBe('CANCELLED');
    },
  );

  test('the events that it follows end, and not before', async () => {
    const answer = await tenant.chat(
      bot,
      { message: 'Hi', stream: true },
      { accept: 'text/event-stream' },
    );
    const runId = answer.headers.get('x-run-id') ?? '';
    const { told } = await outlive(eventsOf(runId), await keyFor(HOUR));
    const ending = ['error invalid_api_key', 'done failed'];
    expect(told).toEqual(['run_started', 'delta', 'delta', ...ending]);
    expect(await statusOf(runId)).toBe('RUNNING');
    finish();
    await answer.text();
  });
});

test('a key that holds for a hundred days is not taken for one that has ended', async () => {
  const secret = await keyFor(100 * 24 * HOUR);
  const ofAnHour = await keyFor(HOUR);
  const reader = REST_READERS['POST chat'];
  const long = readWhole(reader({ app, bot, secret }), () => {});
  // Both are looked at together.
  expect((await outlive(reader, ofAnHour)).told.at(-1)).toBe('done failed');
  finish();
  expect((await long).told).toEqual(['delta', 'done']);
});
