import { afterAll, expect, test } from 'vitest';
import { LOOK_EVERY_MS } from '../../src/coordination/looks.ts';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import { createForgottenSearch, SEARCH_EVERY_MS } from '../../src/execution/forgotten.ts';
import { createActiveRuns } from '../../src/runs/life/active-runs.ts';
import { createRuns } from '../../src/runs/life/runs.ts';
import { createRecovery } from '../../src/runs/queue/recovery.ts';
import { createSessionsDomain } from '../../src/sessions/compose.ts';
import { makeId } from '../../src/text/ids.ts';
import { migratedDatabase } from '../helpers/database.ts';
import { startLooks } from '../helpers/looks.ts';
import { startOwner } from '../helpers/owners.ts';

const database = await migratedDatabase('forgotten');
const { prisma } = database;
afterAll(() => database.close());
const log = { warn: () => {}, error: () => {} };

/** A process with an active run, and a run that it has ended but that a failover brought back, each with its turn. */
async function openProcess() {
  const pubsub = createPubSub();
  const owner = await startOwner({ ...database, log, onLost: () => {} });
  const activeRuns = createActiveRuns({ pubsub });
  const { turns } = createSessionsDomain({ ...database, owner, pubsub, log });
  const runs = createRuns({ ...database, owner, pubsub, notify: () => {}, log });
  const botId = await makeBot();
  const begin = async (sessionId: string) => {
    const session = { key: makeId('ses'), botId, environment: 'PRODUCTION' as const, sessionId };
    const run = { botId, environment: 'PRODUCTION', kind: 'CHAT', channel: 'API' } as const;
    const turn = { session, leaseId: makeId('trn'), limit: 0 };
    const outcome = await runs.begin({ ...run, sessionId, input: 'Hi' }, { turn });
    if (outcome.kind !== 'begun') throw new Error('The session is busy.');
    return { id: outcome.begun.id, session, leaseId: turn.leaseId };
  };
  const active = await begin('active');
  const ended = Promise.withResolvers<void>();
  const { id, leaseId } = active;
  activeRuns.acquireSlot().start({ id, botId, leaseId, now: Date.now }, () => ended.promise);
  const forgotten = await begin('forgotten');
  const look = createForgottenSearch({ prisma, owner, activeRuns, turns, log });
  return {
    active,
    forgotten,
    turns,
    search: look.search,
    look,
    owner,
    recover: () => startLooks(database, createRecovery({ prisma, pubsub, notify: () => {}, log })),
    async close() {
      ended.resolve();
      await activeRuns.drain(0);
      await owner.close();
    },
  };
}

async function makeBot(): Promise<string> {
  const accountId = makeId('acc');
  const botId = makeId('bot');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
  return botId;
}

const runOf = (id: string) => prisma.run.findUniqueOrThrow({ where: { id } });

test('a run that its process has ended, but the database brings back, ends as interrupted; its session is free', async () => {
  const { active, forgotten, turns, search, recover, close } = await openProcess();
  await search();
  const recovery = recover();
  expect(await runOf(forgotten.id)).toMatchObject({ status: 'RUNNING' });
  await search();
  await expect
    .poll(() => runOf(forgotten.id))
    .toMatchObject({ status: 'FAILED', errorCode: 'interrupted' });
  const { signal } = new AbortController();
  const turn = await turns.acquire(forgotten.session, { onBusy: 'REJECT', signal });
  expect(turn.leaseId).not.toBe(forgotten.leaseId);
  await search();
  expect(await runOf(active.id)).toMatchObject({ status: 'RUNNING' });
  await expect(turns.acquire(active.session, { onBusy: 'REJECT', signal })).rejects.toThrow('busy');
  await recovery[Symbol.asyncDispose]();
  await close();
});

test('a request that waits for a turn which its process no longer has gets it', async () => {
  const { forgotten, turns, search, close } = await openProcess();
  await prisma.run.update({ where: { id: forgotten.id }, data: { status: 'COMPLETED' } });
  const { signal } = new AbortController();
  const waiting = turns.acquire(forgotten.session, { signal });
  await expect
    .poll(() => prisma.turnWaiter.count({ where: { sessionKey: forgotten.session.key } }))
    .toBe(1);
  await search();
  await search();
  expect((await waiting).key).toBe(forgotten.session.key);
  await close();
});

test('a run that began between two searches is not forgotten', async () => {
  const { forgotten, search, close } = await openProcess();
  await search();
  expect((await runOf(forgotten.id)).ownerId).not.toBeNull();
  await close();
});

test('the time until a forgotten run ends is less than 60 seconds', () => {
  // Source: the specification of clusters, "PostgreSQL that fails over".
  // A search waits for the next look, and the end of the run for another one.
  expect(2 * (SEARCH_EVERY_MS + LOOK_EVERY_MS) + LOOK_EVERY_MS).toBeLessThan(60_000);
});
