import { describe, expect, test } from 'vitest';
import { makeId } from '../../src/ids.ts';
import { startRecovery } from '../../src/runs/recovery.ts';
import { createRuns } from '../../src/runs/runs.ts';
import { createJobs } from '../../src/storage/jobs.ts';
import { createOwner } from '../../src/storage/owner.ts';
import { createPubSub } from '../../src/storage/pubsub.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { testDatabase } from '../helpers/database.ts';

const { prisma, sql } = await testDatabase();
const log = { warn: () => {}, error: () => {} };
const ids = async () => (await prisma.owner.findMany()).map(({ id }) => id);

describe('a process that owns runs and turns', () => {
  test('is among the owners until it leaves', async () => {
    const owner = await createOwner({ prisma, log, onLost: () => {} });
    expect(await ids()).toContain(owner.id());
    await owner.close();
    expect(await ids()).not.toContain(owner.id());
  });

  test('takes out those whose heart has stopped', async () => {
    const id = makeId('own');
    await prisma.owner.create({ data: { id, heartbeatAt: new Date(Date.now() - 9_000) } });
    const owner = await createOwner({ prisma, log, onLost: () => {} });
    await expect.poll(ids, { timeout: 10_000 }).not.toContain(id);
    expect(await ids()).toContain(owner.id());
    await owner.close();
  });

  test('stops its runs and goes on as somebody new when it was taken for dead', async () => {
    const lost = Promise.withResolvers<void>();
    const owner = await createOwner({ prisma, log, onLost: lost.resolve });
    const id = owner.id();
    await prisma.owner.delete({ where: { id } });
    await lost.promise;
    expect(owner.id()).not.toBe(id);
    expect(await ids()).toContain(owner.id());
    await owner.close();
  });
});

/** Makes a bot of an account of its own. */
async function makeBot() {
  const accountId = makeId('acc');
  const botId = makeId('bot');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
  return botId;
}

describe('a run whose beginning was stored, though the answer that said so was lost', () => {
  test('is ended as interrupted', async () => {
    const loser: Sql = async (statement, values) => {
      await sql(statement, values);
      throw new Error('The connection was cut.');
    };
    const botId = await makeBot();
    const owner = await createOwner({ prisma, log, onLost: () => {} });
    const pubsub = createPubSub();
    const tell = () => {};
    const runs = createRuns({ prisma, sql: loser, owner, pubsub, tell, log });
    const run = {
      botId,
      environment: 'PRODUCTION',
      kind: 'CHAT',
      channel: 'API',
      input: 'Hi',
    } as const;
    await expect(runs.begin(run)).rejects.toThrow('The connection was cut.');
    const jobs = await createJobs({ prisma });
    const recovery = startRecovery({ prisma, jobs, pubsub, tell, log });
    await expect
      .poll(() => prisma.run.findFirst({ where: { botId } }))
      .toMatchObject({ status: 'FAILED', errorCode: 'interrupted' });
    await recovery.close();
    await owner.close();
  });
});

describe('a run whose process has died', () => {
  test('is ended as interrupted, and no other', async () => {
    const botId = await makeBot();
    const owner = await createOwner({ prisma, log, onLost: () => {} });
    const run = (ownerId: string) =>
      prisma.run.create({
        data: {
          id: makeId('run'),
          botId,
          environment: 'PRODUCTION',
          kind: 'CHAT',
          status: 'RUNNING',
          channel: 'API',
          input: 'Hi',
          ownerId,
        },
      });
    const lost = await run(makeId('own'));
    const alive = await run(owner.id());
    const jobs = await createJobs({ prisma });
    const pubsub = createPubSub();
    const recovery = startRecovery({ prisma, jobs, pubsub, tell: () => {}, log });
    const find = (id: string) => prisma.run.findUniqueOrThrow({ where: { id } });
    await expect
      .poll(() => find(lost.id))
      .toMatchObject({
        status: 'FAILED',
        errorCode: 'interrupted',
        finishedAt: expect.any(Date),
      });
    await recovery.close();
    expect(await find(alive.id)).toMatchObject({ status: 'RUNNING' });
    await owner.close();
  });
});
