import { afterAll, describe, expect, inject, test, vi } from 'vitest';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import { isOwnerless, isSilent, type Owner } from '../../src/coordination/worker-lease.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { createRuns } from '../../src/runs/life/runs.ts';
import { createQueue } from '../../src/runs/queue/queue.ts';
import { createRecovery } from '../../src/runs/queue/recovery.ts';
import { openPostgres } from '../../src/storage/database.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { makeId } from '../../src/text/ids.ts';
import { migratedDatabase } from '../helpers/database.ts';
import { hold, holdUp, untilWaiting } from '../helpers/locks.ts';
import { startLooks } from '../helpers/looks.ts';
import { startOwner } from '../helpers/owners.ts';

// An app of another file would evict the owners whose heartbeats these tests move to the past.
const database = await migratedDatabase('worker_lease');
const { prisma, sql } = database;
afterAll(() => database.close());
const log = { warn: () => {}, error: () => {} };
const ids = async () => (await prisma.owner.findMany()).map(({ id }) => id);

describe('a process that owns runs and turns', () => {
  test('is registered until it leaves', async () => {
    const owner = await startOwner({ prisma, sql, log, onLost: () => {} });
    expect(await ids()).toContain(owner.id());
    await owner.close();
    expect(await ids()).not.toContain(owner.id());
  });

  test('can shut down while the database is down, and then counts as dead', async () => {
    const deleteMany = () => Promise.reject(new Error('connect ECONNREFUSED'));
    const broken = { owner: { deleteMany } } as unknown as typeof prisma;
    const error = vi.fn();
    const own = await startOwner({ prisma: broken, sql, log: { ...log, error }, onLost: () => {} });
    await own.close();
    expect(error).toHaveBeenCalledOnce();
  });

  // PGlite uses the clock of its process.
  test.skipIf(!inject('databaseUrl'))('uses the database’s clock, not its own', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const owner = await startOwner({ prisma, sql, log, onLost: () => {} });
    vi.useRealTimers();
    const { heartbeatAt } = await prisma.owner.findUniqueOrThrow({ where: { id: owner.id() } });
    expect(heartbeatAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
    await owner.close();
  });

  test('evicts no one when the database’s clock was stepped', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let sent = 0;
    let answered = 0;
    const counted: Sql = async (statement, values) => {
      sent += 1;
      const rows = await sql<never>(statement, values);
      answered += 1;
      return rows;
    };
    const lost = vi.fn();
    const first = await startOwner({ prisma, sql: counted, log, onLost: lost });
    vi.advanceTimersByTime(500);
    const second = await startOwner({ prisma, sql: counted, log, onLost: lost });
    const where = { id: { in: [first.id(), second.id()] } };
    const stepped = new Date(Date.now() - 3_600_000);
    await prisma.owner.updateMany({ where, data: { heartbeatAt: stepped } });
    // One after the other sends a heartbeat, and evicts owners that it considers dead.
    for (const [milliseconds, heartbeats] of [
      [1_500, 3],
      [500, 4],
    ] as const) {
      vi.advanceTimersByTime(milliseconds);
      await expect.poll(() => sent >= heartbeats && sent === answered).toBe(true);
    }
    await first.close();
    await second.close();
    vi.useRealTimers();
    expect(lost).not.toHaveBeenCalled();
  });

  test('evicts owners without a heartbeat', async () => {
    const id = makeId('own');
    await prisma.owner.create({ data: { id, heartbeatAt: new Date(Date.now() - 9_000) } });
    const owner = await startOwner({ prisma, sql, log, onLost: () => {} });
    await expect.poll(ids).not.toContain(id);
    expect(await ids()).toContain(owner.id());
    await owner.close();
  });

  test('looks for the work of owners that it evicts', async () => {
    const id = makeId('own');
    await prisma.owner.create({ data: { id, heartbeatAt: new Date(Date.now() - 9_000) } });
    const freed = Promise.withResolvers<void>();
    const owner = await startOwner({ prisma, sql, log, onLost: () => {}, onFreed: freed.resolve });
    await freed.promise;
    expect(await ids()).not.toContain(id);
    await owner.close();
  });

  test('stores no heartbeats in a database that no other process can use, and never counts as dead', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const counted = vi.fn(sql);
    const owner = await startOwner({
      prisma,
      sql: counted as Sql,
      log,
      isAlone: true,
      onLost: () => {},
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(owner.isAlive()).toBe(true);
    expect(counted).toHaveBeenCalledOnce();
    const other = await startOwner({ prisma, sql, log, onLost: () => {} });
    const [found] = await prisma.$queryRaw<{ isSilent: boolean; isOwnerless: boolean }[]>`
      SELECT ${Prisma.raw(isSilent('id'))} AS "isSilent", ${Prisma.raw(isOwnerless('id'))} AS "isOwnerless"
      FROM (SELECT ${owner.id()} AS id) AS held`;
    expect(found).toEqual({ isSilent: false, isOwnerless: false });
    await owner.close();
    expect(await ids()).not.toContain(owner.id());
    await other.close();
    vi.useRealTimers();
  });

  test('stops its runs and continues with a new id after it was evicted', async () => {
    const lost = Promise.withResolvers<void>();
    const owner = await startOwner({ prisma, sql, log, onLost: lost.resolve });
    const id = owner.id();
    await prisma.owner.delete({ where: { id } });
    await lost.promise;
    expect(owner.id()).not.toBe(id);
    expect(await ids()).toContain(owner.id());
    await owner.close();
  });

  test('is not sure to be alive after a pause, until its next heartbeat', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    // A clock that only the test advances: a real pause may be as long.
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const owner = await startOwner({ prisma, sql, log, onLost: () => {} });
    expect(owner.isAlive()).toBe(true);
    const id = owner.id();
    await prisma.owner.delete({ where: { id } });
    now += 10_000;
    expect(owner.isAlive()).toBe(false);
    vi.advanceTimersByTime(2_000);
    await expect.poll(owner.isAlive).toBe(true);
    expect(owner.id()).not.toBe(id);
    clock.mockRestore();
    await owner.close();
    vi.useRealTimers();
  });

  test('is not evicted after an outage that stopped all heartbeats', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    let isDown = false;
    let sent = 0;
    let answered = 0;
    const reached: Sql = async (statement, values) => {
      if (isDown) throw new Error('connect ECONNREFUSED');
      sent += 1;
      try {
        return await sql(statement, values);
      } finally {
        answered += 1;
      }
    };
    const lost: string[] = [];
    const owners: Owner[] = [];
    for (const name of ['A', 'B', 'C']) {
      const onLost = () => void lost.push(name);
      owners.push(await startOwner({ prisma, sql: reached, log, onLost }));
      await vi.advanceTimersByTimeAsync(500);
    }
    const where = { id: { in: owners.map((owner) => owner.id()) } };
    isDown = true;
    await vi.advanceTimersByTimeAsync(10_000);
    const silentSince = new Date(Date.now() - 10_000);
    await prisma.owner.updateMany({ where, data: { heartbeatAt: silentSince } });
    isDown = false;
    sent = 0;
    answered = 0;
    // One after the other sends a heartbeat again, and evicts owners that it considers dead.
    for (const heartbeats of [1, 2, 3]) {
      await vi.advanceTimersByTimeAsync(500);
      await expect.poll(() => sent >= heartbeats && sent === answered).toBe(true);
    }
    const heartbeats = { ...where, heartbeatAt: { gt: silentSince } };
    await expect.poll(() => prisma.owner.count({ where: heartbeats })).toBe(3);
    for (const owner of owners) await owner.close();
    vi.useRealTimers();
    expect(lost).toEqual([]);
  });

  test.skipIf(!inject('databaseUrl'))(
    'sends heartbeats while queries use all of Prisma’s connections',
    async () => {
      const [{ name = '' } = {}] = await prisma.$queryRaw<{ name: string }[]>`
      SELECT current_database() AS name`;
      const url = Object.assign(new URL(inject('databaseUrl')), { pathname: `/${name}` });
      const busy = await openPostgres(url.href);
      const owner = await startOwner({ ...busy, log, onLost: () => {} });
      const beats = async () =>
        (await prisma.owner.findUniqueOrThrow({ where: { id: owner.id() } })).heartbeatAt.getTime();
      const joined = await beats();
      const key = 4_712;
      const free = await hold(
        prisma,
        (tx) => tx.$queryRaw`SELECT pg_advisory_xact_lock(${key})::text`,
      );
      const queries = Array.from(
        { length: 10 },
        async () => busy.prisma.$queryRaw`SELECT pg_advisory_xact_lock_shared(${key})::text`,
      );
      await untilWaiting(prisma, 10);
      await expect.poll(beats).toBeGreaterThan(joined);
      await free();
      await Promise.all(queries);
      await owner.close();
      await busy.close();
    },
  );
});

/** Creates a bot in a new account. */
async function makeBot() {
  const accountId = makeId('acc');
  const botId = makeId('bot');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
  return botId;
}

describe('a run whose creation was stored, though the response was lost', () => {
  test('is ended as interrupted', async () => {
    const loser: Sql = async (statement, values) => {
      await sql(statement, values);
      throw new Error('The connection was cut.');
    };
    const botId = await makeBot();
    const owner = await startOwner({ prisma, sql, log, onLost: () => {} });
    const pubsub = createPubSub();
    const notify = () => {};
    const runs = createRuns({ prisma, sql: loser, owner, pubsub, notify, log });
    const run = {
      botId,
      environment: 'PRODUCTION',
      kind: 'CHAT',
      channel: 'API',
      input: 'Hi',
    } as const;
    await expect(runs.begin(run)).rejects.toThrow('The connection was cut.');
    const recovery = startLooks(database, createRecovery({ prisma, pubsub, notify, log }));
    await expect
      .poll(() => prisma.run.findFirst({ where: { botId } }))
      .toMatchObject({ status: 'FAILED', errorCode: 'interrupted' });
    await recovery[Symbol.asyncDispose]();
    await owner.close();
  });
});

describe('a run of a dead process', () => {
  test('is ended as interrupted, unlike others', async () => {
    const botId = await makeBot();
    const owner = await startOwner({ prisma, sql, log, onLost: () => {} });
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
    const pubsub = createPubSub();
    const recovery = startLooks(
      database,
      createRecovery({ prisma, pubsub, notify: () => {}, log }),
    );
    const find = (id: string) => prisma.run.findUniqueOrThrow({ where: { id } });
    await expect
      .poll(() => find(lost.id))
      .toMatchObject({
        status: 'FAILED',
        errorCode: 'interrupted',
        finishedAt: expect.any(Date),
      });
    await recovery[Symbol.asyncDispose]();
    expect(await find(alive.id)).toMatchObject({ status: 'RUNNING' });
    await owner.close();
  });

  test.skipIf(!inject('databaseUrl'))(
    'is not ended again after another worker took it',
    async () => {
      const owner = await startOwner({ prisma, sql, log, onLost: () => {} });
      const createOrphan = async (input: string) => {
        const botId = await makeBot();
        const { accountId } = await prisma.bot.findUniqueOrThrow({ where: { id: botId } });
        const what = { kind: 'EXECUTE', environment: 'PRODUCTION', channel: 'API' } as const;
        const begun = { status: 'RUNNING', ownerId: makeId('own'), background: true } as const;
        const base = { id: makeId('run'), botId, accountId };
        return prisma.run.create({ data: { ...base, input, ...what, ...begun } });
      };
      const [slow, other] = [await createOrphan('slow'), await createOrphan('other')];
      const unblock = await holdUp(prisma, { before: 'UPDATE', of: 'runs', id: slow.id });
      const [pubsub, notify] = [createPubSub(), () => {}];
      const first = startLooks(database, createRecovery({ prisma, pubsub, notify, log }));
      await untilWaiting(prisma, 1);
      const second = startLooks(database, createRecovery({ prisma, pubsub, notify, log }));
      const queue = createQueue({ prisma, sql, owner, pubsub, notify, log });
      const take = async () => (await queue.take())[0]?.begun.id;
      await expect.poll(take).toBe(other.id);
      await unblock();
      await expect.poll(take).toBe(slow.id);
      for (const recovery of [first, second]) await recovery[Symbol.asyncDispose]();
      const row = await prisma.run.findUniqueOrThrow({ where: { id: other.id } });
      expect(row).toMatchObject({ status: 'RUNNING', ownerId: owner.id() });
      expect(await take()).toBeUndefined();
      await owner.close();
    },
  );
});
