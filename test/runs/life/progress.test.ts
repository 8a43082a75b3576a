import { beforeAll, expect, test } from 'vitest';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import { foldProgress } from '../../../src/runs/life/progress.ts';
import { createReplay } from '../../../src/runs/life/replay.ts';
import { startRetention } from '../../../src/runs/life/retention.ts';
import { createRuns } from '../../../src/runs/life/runs.ts';
import { type EventRecord, recordEvents } from '../../../src/runs/record/event-codec.ts';
import type { RunEvent } from '../../../src/runs/record/events.ts';
import { makeId } from '../../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { testDatabase } from '../../helpers/database.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const SILENT = {
  pubsub: createPubSub(),
  notify: () => {},
  log: { warn: () => {}, error: () => {} },
};
const HOUR_AGO = new Date(Date.now() - 3_600_000);
const SPAN = {
  spanId: '0123456789abcdef',
  parentId: null,
  name: 'invoke_agent Bot',
  startedAt: HOUR_AGO.getTime(),
  durationMs: 3,
  status: 'error',
  attributes: {},
};

/** The events of an attempt that says some words. */
function spoken(runId: string, words: string[], fromSeq = 1): RunEvent[] {
  return [
    { type: 'RunStarted' as const, runId, sessionId: null },
    ...words.map((delta) => ({ type: 'TextDelta' as const, delta })),
  ].map((event, index) => ({ ...event, seq: fromSeq + index, at: HOUR_AGO.getTime() + index }));
}

function collectLog() {
  const lines: string[] = [];
  const add = (_fields: object, message: string) => void lines.push(message);
  return { lines, log: { warn: add, error: add } };
}

/** The id of a process that is not dead, so that nothing recovers its runs. */
const livingOwner = async () => (await app.prisma.owner.findFirstOrThrow()).id;

/** Stores a run that a dead process executed, with the pieces of its progress. */
async function createLost(
  pieces: (id: string) => (EventRecord & { fromSeq: number })[],
  { background = false, attempt = 1, cancelRequested = false, ownerId = makeId('own') } = {},
) {
  const id = makeId('run');
  const { accountId } = await app.prisma.bot.findUniqueOrThrow({ where: { id: bot } });
  await app.prisma.runProgress.createMany({
    data: pieces(id).map((piece) => ({ ...piece, runId: id, attempt, spans: [SPAN] })),
  });
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
      ownerId,
      attempt,
      background,
      cancelRequested,
      createdAt: HOUR_AGO,
      startedAt: HOUR_AGO,
    },
  });
  return id;
}

const piecesOf = (events: RunEvent[], cuts: number[]) =>
  [0, ...cuts].map((start, index) => ({
    fromSeq: (events[start]?.seq ?? 0) as number,
    ...recordEvents(events.slice(start, cuts[index]), HOUR_AGO.getTime()),
  }));

const findRun = (id: string) => app.prisma.run.findUniqueOrThrow({ where: { id } });
const progressOf = (runId: string) =>
  app.prisma.runProgress.findMany({ where: { runId }, orderBy: { fromSeq: 'asc' } });

const post = async (query: string, variables: object) => {
  const answer = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return answer.json();
};
const responseOf = async (id: string) => {
  const { data } = await post('query ($id: ID!) { run(id: $id) { response } }', { id });
  return data.run.response;
};

test('an active run appends what is new, is readable so far, and its row gets the whole at its end', async () => {
  const words = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.upstream.script(async ({ say, end }) => {
    say('One ');
    await words[0]?.promise;
    say('two.');
    await words[1]?.promise;
    end();
  });
  const { data } = await post(
    'mutation ($botId: ID!) { execute(botId: $botId, input: { prompt: "Count", background: true }) { id } }',
    { botId: bot },
  );
  const { id } = data.execute;
  const texts = async () => (await progressOf(id)).map(({ response }) => response);
  await expect.poll(async () => (await texts()).join('')).toBe('One ');
  // If the model begins late, a piece without text is before.
  const before = await texts();
  expect(await responseOf(id)).toBe('One ');
  words[0]?.resolve();
  await expect.poll(texts).toEqual([...before, 'two.']);
  expect(await responseOf(id)).toBe('One two.');
  expect(await findRun(id)).toMatchObject({ response: null, events: null });
  words[1]?.resolve();
  await expect.poll(async () => (await findRun(id)).status).toBe('COMPLETED');
  expect(await findRun(id)).toMatchObject({ response: 'One two.' });
  expect(await progressOf(id)).toEqual([]);
  expect(await responseOf(id)).toBe('One two.');
});

test('the texts of active runs count as long texts of a response', async () => {
  const ownerId = await livingOwner();
  const other = await tenant.bot();
  const word = 'x'.repeat(3 * 1024 * 1024);
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    const id = await createLost((runId) => piecesOf(spoken(runId, [word]), []), { ownerId });
    await app.prisma.run.update({ where: { id }, data: { botId: other } });
    ids.push(id);
  }
  const query = 'query ($botId: ID!) { runs(botId: $botId) { edges { node { response } } } }';
  const { errors } = await post(query, { botId: other });
  expect(errors).toMatchObject([{ extensions: { code: 'REQUEST_TOO_LARGE' } }]);
  expect(await responseOf(ids[0] ?? '')).toHaveLength(word.length);
  await app.prisma.run.deleteMany({ where: { id: { in: ids } } });
});

test('the run of a dead process keeps its text, its events and its spans', async () => {
  const id = await createLost((runId) =>
    piecesOf(spoken(runId, ['One ', 'two ', 'three']), [2, 3]),
  );
  await expect.poll(async () => (await findRun(id)).status).toBe('FAILED');
  expect(await findRun(id)).toMatchObject({
    errorCode: 'interrupted',
    response: 'One two three',
    events: [{ type: 'RunStarted', runId: id, sessionId: null }, 4, 8, 13],
    eventTimes: [0, 1, 2, 3],
    spans: [SPAN],
  });
  expect(await progressOf(id)).toEqual([]);
});

test('a run that is cancelled while its process dies keeps its text', async () => {
  const id = await createLost((runId) => piecesOf(spoken(runId, ['One ']), []), {
    background: true,
    cancelRequested: true,
  });
  await expect.poll(async () => (await findRun(id)).status).toBe('CANCELLED');
  expect(await findRun(id)).toMatchObject({ response: 'One ' });
});

test('the next attempt follows the events of the attempt that died', async () => {
  app.upstream.script(({ say, end }) => {
    say('Done.');
    end();
  });
  const id = await createLost((runId) => piecesOf(spoken(runId, ['One ', 'two ']), [1]), {
    background: true,
  });
  await expect
    .poll(async () => {
      const where = { id, status: 'QUEUED' } as const;
      await app.prisma.run.updateMany({ where, data: { availableAt: new Date(0) } });
      return (await findRun(id)).status;
    })
    .toBe('COMPLETED');
  expect(await findRun(id)).toMatchObject({
    response: 'Done.',
    events: [
      { type: 'RunStarted', runId: id, sessionId: null },
      { type: 'TextDelta', delta: 'One ' },
      { type: 'TextDelta', delta: 'two ' },
      { type: 'RunStarted', runId: id, sessionId: null },
      5,
    ],
  });
  expect(await progressOf(id)).toEqual([]);
});

test('a run whose earlier pieces were erased ends without text', async () => {
  const id = await createLost((runId) => piecesOf(spoken(runId, ['One ', 'two ']), [2]).slice(1));
  await expect.poll(async () => (await findRun(id)).status).toBe('FAILED');
  expect(await findRun(id)).toMatchObject({ errorCode: 'interrupted', response: null });
  expect(await progressOf(id)).toEqual([]);
});

test('pieces of an earlier attempt are not those of the current one', async () => {
  const id = await createLost((runId) => piecesOf(spoken(runId, ['Old ']), []));
  await app.prisma.run.update({ where: { id }, data: { attempt: 2 } });
  await expect.poll(async () => (await findRun(id)).status).toBe('FAILED');
  expect(await findRun(id)).toMatchObject({ response: null, events: null });
});

test('a piece whose outcome was unknown is stored again with more events, and each event is read once', async () => {
  const ownerId = await livingOwner();
  const events = (runId: string) => spoken(runId, ['One ', 'two ', 'three']);
  const id = await createLost((runId) => piecesOf(events(runId).slice(0, 2), []), { ownerId });
  const piece = { fromSeq: 1, ...recordEvents(events(id), HOUR_AGO.getTime()), spans: [] };
  const runs = createRuns({ ...(await testDatabase()), ...SILENT, owner: { id: () => ownerId } });
  const signal = AbortSignal.timeout(60_000);
  const replay = createReplay({
    ...SILENT,
    prisma: app.prisma,
    activeRuns: { find: () => undefined },
  });
  const reader = replay.read(id, 0, signal)[Symbol.asyncIterator]();
  const next = async () => (await reader.next()).value;
  expect([await next(), await next()]).toMatchObject([{ seq: 1 }, { seq: 2, delta: 'One ' }]);
  await runs.progress({ id, botId: bot, ownerId, attempt: 1 }, piece);
  expect([await next(), await next()]).toMatchObject([{ delta: 'two ' }, { delta: 'three' }]);
  await reader.return?.();
  expect(await progressOf(id)).toHaveLength(1);
  await app.prisma.run.delete({ where: { id } });
});

test('a slow reader gets every event, also those that another reader has read meanwhile', async () => {
  const ownerId = await livingOwner();
  const all = (id: string) => spoken(id, ['One ', 'two ', 'three']);
  const id = await createLost((runId) => piecesOf(all(runId).slice(0, 2), []), { ownerId });
  const replay = createReplay({
    ...SILENT,
    prisma: app.prisma,
    activeRuns: { find: () => undefined },
  });
  const { signal } = new AbortController();
  const read = () => replay.read(id, 0, signal)[Symbol.asyncIterator]();
  const seq = async (reader: AsyncIterator<RunEvent>) => (await reader.next()).value?.seq;
  const slow = read();
  expect(await seq(slow)).toBe(1);
  const [piece] = piecesOf(all(id).slice(2), []);
  if (!piece) throw new Error('There is no piece.');
  await app.prisma.runProgress.create({ data: { ...piece, runId: id, attempt: 1 } });
  const fast = read();
  for (const number of [1, 2, 3, 4]) expect(await seq(fast)).toBe(number);
  for (const number of [2, 3, 4]) expect(await seq(slow)).toBe(number);
  for (const reader of [slow, fast]) await reader.return?.();
  await app.prisma.run.delete({ where: { id } });
});

test('progress that cannot be read is deleted, with a line in the log', async () => {
  const { log, lines } = collectLog();
  const id = await createLost(
    () => [{ fromSeq: 1, response: '', eventTimes: [0], events: ['?'] }],
    { ownerId: await livingOwner() },
  );
  await foldProgress({ prisma: app.prisma, log }, id);
  expect(lines).toEqual(['The stored progress of a run cannot be read. It is deleted.']);
  expect(await progressOf(id)).toEqual([]);
  await app.prisma.run.delete({ where: { id } });
});

test('the sweep deletes progress without an active run, and reports it', async () => {
  const id = await createLost((runId) => piecesOf(spoken(runId, ['One ']), []), {
    ownerId: await livingOwner(),
  });
  await app.prisma.run.delete({ where: { id } });
  const { log, lines } = collectLog();
  await using _retention = startRetention({ prisma: app.prisma, log });
  await expect.poll(() => lines).toContain('Deleted stored progress of runs that are not active.');
  expect(await progressOf(id)).toEqual([]);
});
