import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, test } from 'vitest';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { MAX_INT } from '../../../src/storage/int.ts';
import { makeId } from '../../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { frames } from '../../helpers/stream.ts';

let app: TestApp;
/** A second replica on the same database. The two do not notify each other. */
let other: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  other = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const HOUR_MS = 3_600_000;
const HOUR_AGO = new Date(Date.now() - HOUR_MS);

type TimedEvent = { __typename: string; seq: number; at: string | null; runId?: string };

const FIELDS = [
  'RunStarted { runId seq at }',
  'TextDelta { seq at }',
  'ToolStarted { seq at }',
  'ToolFinished { seq at }',
  'ChatDone { seq at }',
  'ChatFailed { seq at }',
  'ChatCancelled { seq at }',
].map((field) => `... on ${field}`);
const CHAT = `subscription ($botId: ID!, $input: ChatInput!) {
  event: chat(botId: $botId, input: $input) { __typename ${FIELDS} }
}`;
const FOLLOW = `subscription ($runId: ID!) {
  event: runEvents(runId: $runId) { __typename ${FIELDS} }
}`;

/** Reads a subscription to its end. */
async function* read(
  { webSocketUrl: url }: TestApp,
  query: string,
  variables: Record<string, unknown>,
): AsyncGenerator<TimedEvent> {
  const connectionParams = { Authorization: tenant.headers.authorization };
  const client = createClient({ url, connectionParams });
  const results = client.iterate<{ event: TimedEvent }>({ query, variables });
  for await (const { data } of results) if (data) yield data.event;
  await client.dispose();
}
const follow = (runId: string, replica = app) => Array.fromAsync(read(replica, FOLLOW, { runId }));

const findRun = (id: string) => app.prisma.run.findUniqueOrThrow({ where: { id } });
const status = async (id: string) => (await findRun(id)).status;
const timesOf = (events: TimedEvent[]) => events.map(({ at }) => (at ? Date.parse(at) : null));

/** Stores a run of a process that does not exist any more, with the texts `One ` and `two `. */
async function createLost(more: Partial<Prisma.RunUncheckedCreateInput>) {
  const id = makeId('run');
  const { accountId } = await app.prisma.bot.findUniqueOrThrow({ where: { id: bot } });
  await app.prisma.run.create({
    data: {
      id,
      botId: bot,
      accountId,
      status: 'RUNNING',
      kind: 'EXECUTE',
      environment: 'PRODUCTION',
      channel: 'API',
      input: 'Count',
      ownerId: makeId('own'),
      createdAt: HOUR_AGO,
      startedAt: HOUR_AGO,
      response: 'One two ',
      events: [{ type: 'RunStarted', runId: id, sessionId: null }, 4, 8],
      ...more,
    },
  });
  return id;
}

/** Ends the retry delay of a run that has lost its owner, and waits for the end of its next attempt. */
async function retried(id: string) {
  const end = async () => {
    const where = { id, status: 'QUEUED' } as const;
    await app.prisma.run.updateMany({ where, data: { availableAt: new Date(0) } });
    return status(id);
  };
  await expect.poll(end).toBe('COMPLETED');
}

describe('the times of events', () => {
  test('are the same live and stored, on every replica, over several checkpoints', async () => {
    const words = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
    app.upstream.script(async ({ say, end }) => {
      for (const { promise } of words) {
        await promise;
        say('word ');
      }
      end();
    });
    const live: TimedEvent[] = [];
    const input = { message: 'Count' };
    let following: Promise<TimedEvent[]> | undefined;
    for await (const event of read(app, CHAT, { botId: bot, input })) {
      live.push(event);
      const [started] = live;
      const id = started?.runId ?? '';
      following ??= follow(id, other);
      if (event.__typename !== 'ChatDone') {
        const stored = async () => {
          const pieces = await app.prisma.runProgress.findMany({ where: { runId: id } });
          // The last word may be stored with the end of the run.
          const { eventTimes } = await findRun(id);
          return [...eventTimes, ...pieces.flatMap((piece) => piece.eventTimes)].length;
        };
        await expect.poll(stored).toBe(live.length);
      }
      words[live.length - 1]?.resolve();
    }
    const id = live[0]?.runId ?? '';
    expect(live.map(({ __typename }) => __typename)).toEqual([
      'RunStarted',
      ...words.map(() => 'TextDelta'),
      'ChatDone',
    ]);
    for (const replica of [app, other]) expect(await follow(id, replica)).toEqual(live);
    expect(await following).toEqual(live);

    const { createdAt, finishedAt, eventTimes } = await findRun(id);
    const times = timesOf(live).map((time) => (time ?? Number.NaN) - createdAt.getTime());
    expect(times.slice(0, -1)).toEqual(eventTimes);
    expect(times).toEqual(times.toSorted((one, next) => one - next));
    expect(times[0]).toBe(0);
    expect(times.at(-1)).toBe(Number(finishedAt) - createdAt.getTime());
    // The next word follows the checkpoint of the word before.
    expect(new Set(times.slice(0, -1)).size).toBe(5);
  });

  test('keep the times of an earlier attempt in another process', async () => {
    const id = await createLost({ background: true, eventTimes: [5, 70, 900] });
    await retried(id);
    const events = await follow(id);
    const { createdAt, startedAt, finishedAt } = await findRun(id);
    const times = timesOf(events);
    expect(times.slice(0, 4)).toEqual([
      ...[5, 70, 900].map((time) => createdAt.getTime() + time),
      startedAt?.getTime(),
    ]);
    expect(times).toEqual(times.toSorted((one, next) => Number(one) - Number(next)));
    expect(times.at(-1)).toBe(finishedAt?.getTime());
  });

  test('are kept up to the last checkpoint of an interrupted run', async () => {
    const id = await createLost({ eventTimes: [0, 70, 900] });
    await expect.poll(() => status(id)).toBe('FAILED');
    const { createdAt, finishedAt } = await findRun(id);
    expect(timesOf(await follow(id))).toEqual([
      ...[0, 70, 900].map((time) => createdAt.getTime() + time),
      finishedAt?.getTime(),
    ]);
  });

  test('are absent from a run that ended before they were stored', async () => {
    const id = await createLost({ status: 'COMPLETED', finishedAt: new Date() });
    expect(timesOf(await follow(id))).toEqual([null, null, null, null]);
  });

  test('are known from the next attempt on if an earlier version began the run', async () => {
    const id = await createLost({ background: true });
    await retried(id);
    const times = timesOf(await follow(id));
    expect(times.slice(0, 3)).toEqual([null, null, null]);
    expect(times.slice(3)).not.toContain(null);
  });

  test('are never before the times of earlier events, even if another clock was ahead', async () => {
    const ahead = 2 * HOUR_MS;
    const id = await createLost({ background: true, eventTimes: [0, 1, ahead] });
    await retried(id);
    const times = timesOf(await follow(id));
    expect(new Set(times.slice(2)).size).toBe(1);
  });

  test('are stored for a run that waited longer than the longest time', async () => {
    const createdAt = new Date(Date.now() - 1_000 * HOUR_MS);
    const id = await createLost({ background: true, createdAt, eventTimes: [0, 1, 2] });
    await retried(id);
    const { eventTimes } = await findRun(id);
    expect(new Set(eventTimes.slice(3))).toEqual(new Set([MAX_INT]));
  });

  test('are the times of the row for a run that never started, and after its text was erased', async () => {
    const finishedAt = new Date();
    const row = { events: Prisma.DbNull, finishedAt };
    const unstarted = await createLost({ ...row, status: 'CANCELLED', startedAt: null });
    expect(timesOf(await follow(unstarted))).toEqual([finishedAt.getTime()]);
    const sessionId = makeId('ses');
    app.upstream.script(({ say, end }) => {
      say('Hello.');
      end();
    });
    const [started] = await Array.fromAsync(
      read(app, CHAT, { botId: bot, input: { message: 'Hi', sessionId } }),
    );
    const id = started?.runId ?? '';
    const answer = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        query: `mutation ($botId: ID!, $sessionId: String!) {
          forgetSession(botId: $botId, sessionId: $sessionId)
        }`,
        variables: { botId: bot, sessionId },
      }),
    });
    expect(await answer.json()).not.toHaveProperty('errors');
    const erased = await findRun(id);
    expect(erased).toMatchObject({ events: null, eventTimes: [] });
    expect(timesOf(await follow(id))).toEqual(
      [erased.startedAt, erased.finishedAt].map((time) => time?.getTime()),
    );
  });

  test('are not in the frames of the REST API', async () => {
    const [started] = await Array.fromAsync(
      read(app, CHAT, { botId: bot, input: { message: 'Hi' } }),
    );
    const url = `${app.url}/v1/bots/${bot}/runs/${started?.runId}/events`;
    const sent = await frames(await fetch(url, { headers: tenant.headers }));
    expect(sent.length).toBeGreaterThan(2);
    expect(JSON.stringify(sent)).not.toContain('"at"');
  });
});
