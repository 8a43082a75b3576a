import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import type { Owner } from '../../src/coordination/worker-lease.ts';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import type { NewSession, SessionState } from '../../src/sessions/history.ts';
import { createTickets } from '../../src/sessions/tickets.ts';
import { createTurns } from '../../src/sessions/turns.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { makeId } from '../../src/text/ids.ts';
import { testDatabase } from '../helpers/database.ts';
import { hold, untilWaiting } from '../helpers/locks.ts';
import { startOwner } from '../helpers/owners.ts';

let prisma: PrismaClient;
let sql: Sql;
let botId: string;
beforeAll(async () => {
  ({ prisma, sql } = await testDatabase());
  const accountId = makeId('acc');
  botId = makeId('bot');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
});

const log = { warn: () => {}, error: () => {} };
const signal = new AbortController().signal;

/** A replica. Replicas notify each other only if they share a `pubsub`. */
async function replica({ pubsub = createPubSub(), maxWaitMs = 240_000 } = {}) {
  const owner = await startOwner({ prisma, sql, log, onLost: () => {} });
  return { owner, turns: createTurns({ prisma, sql, owner, pubsub, log, maxWaitMs }) };
}

const newSession = (sessionId: string = randomUUID()): NewSession => ({
  key: makeId('ses'),
  botId,
  environment: 'PRODUCTION',
  sessionId,
});

const waiting = ({ key }: SessionState) => prisma.turnWaiter.count({ where: { sessionKey: key } });

/** Locks a session's row. @returns a function that unlocks it. */
const lock = ({ sessionId }: NewSession) =>
  hold(
    prisma,
    (tx) => tx.$queryRaw`SELECT id FROM sessions WHERE session_id = ${sessionId} FOR UPDATE`,
  );

/** Whether another transaction has locked the session's row. */
async function isLocked({ sessionId }: NewSession): Promise<boolean> {
  const unlocked = await prisma.$queryRaw<unknown[]>`
    SELECT id FROM sessions WHERE session_id = ${sessionId} FOR UPDATE SKIP LOCKED`;
  return unlocked.length === 0;
}

/** Waits until a session has no turn. A release returns after half a second, though the database may need longer. */
const untilFree = ({ sessionId }: NewSession) =>
  expect
    .poll(() => prisma.session.count({ where: { botId, sessionId, leaseId: { not: null } } }))
    .toBe(0);

/** Evicts a process, as the others do after it was killed. */
const kill = (owner: Owner) => prisma.owner.delete({ where: { id: owner.id() } });

describe('the turns of a session', () => {
  test('are given one at a time in arrival order, across all processes', async () => {
    const pubsub = createPubSub();
    const replicas = [await replica({ pubsub }), await replica({ pubsub }), await replica()];
    const session = newSession();
    const order: number[] = [];
    const [first] = replicas;
    const held = await first?.turns.acquire(session, { signal });
    if (!held || !first) throw new Error('The turn must be free.');
    const taken: Promise<void>[] = [];
    for (const number of [0, 1, 2, 3, 4, 5]) {
      const { turns } = replicas[number % replicas.length] ?? first;
      taken.push(
        turns.acquire({ ...session, key: makeId('ses') }, { signal }).then(async (turn) => {
          order.push(number);
          expect(turn.key).toBe(held.key);
          await turns.release(turn);
        }),
      );
      await expect.poll(() => waiting(held), { interval: 1 }).toBe(number + 1);
    }
    expect(order).toEqual([]);
    await first.turns.release(held);
    await Promise.all(taken);
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await waiting(held)).toBe(0);
    for (const { owner } of replicas) await owner.close();
  });

  test('are released if the response that granted one was lost', async () => {
    const loser: Sql = async (statement, values) => {
      await sql(statement, values);
      throw new Error('The connection was cut.');
    };
    const { owner, turns } = await replica();
    const losing = createTurns({ prisma, sql: loser, owner, pubsub: createPubSub(), log });
    const session = newSession();
    await expect(losing.acquire(session, { signal })).rejects.toThrow('The connection was cut.');
    await untilFree(session);
    const turn = await turns.acquire(session, { onBusy: 'REJECT', signal });
    expect(turn.key).toBe(session.key);
    await turns.release(turn);
    await owner.close();
  });

  test('are released even if the statement that granted one is delayed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { owner, turns } = await replica();
    let arrive = async () => {};
    const late: Sql = async (statement, values) => {
      arrive = async () => void (await sql(statement, values));
      throw new Error('No answer.');
    };
    const slow = createTurns({ prisma, sql: late, owner, pubsub: createPubSub(), log });
    const session = newSession();
    await expect(slow.acquire(session, { signal })).rejects.toThrow('No answer.');
    await arrive();
    await expect(turns.acquire(session, { onBusy: 'REJECT', signal })).rejects.toMatchObject({
      code: 'session_busy',
    });
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();
    const isFree = () =>
      turns.acquire(session, { onBusy: 'REJECT', signal }).then(turns.release, String);
    await expect.poll(isFree).toBeUndefined();
    await owner.close();
  });

  test('are given in request order within one process', async () => {
    const { owner, turns } = await replica();
    const session = newSession();
    const order: number[] = [];
    await Promise.all(
      [0, 1, 2, 3, 4, 5, 6, 7].map(async (number) => {
        const turn = await turns.acquire({ ...session, key: makeId('ses') }, { signal });
        order.push(number);
        await turns.release(turn);
      }),
    );
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await owner.close();
  });

  test('are separate for other sessions, bots and environments', async () => {
    const { owner, turns } = await replica();
    const session = newSession();
    const held = [
      await turns.acquire(session, { signal }),
      await turns.acquire(newSession(), { signal }),
      await turns.acquire({ ...session, key: makeId('ses'), environment: 'STAGING' }, { signal }),
    ];
    expect(new Set(held.map(({ key }) => key)).size).toBe(3);
    await owner.close();
  });

  test('are refused at once for a caller that rejects waiting', async () => {
    const { owner, turns } = await replica();
    const session = newSession();
    const held = await turns.acquire(session, { signal, onBusy: 'REJECT' });
    const rejected = turns.acquire(session, { signal, onBusy: 'REJECT' });
    await expect(rejected).rejects.toMatchObject({ code: 'session_busy' });
    await turns.release(held);
    await untilFree(session);
    await turns.acquire(session, { signal, onBusy: 'REJECT' });
    await owner.close();
  });

  test('are released once, even if released repeatedly', async () => {
    const { owner, turns } = await replica();
    const session = newSession();
    const held = await turns.acquire(session, { signal });
    const second = turns.acquire(session, { signal });
    const third = turns.acquire(session, { signal });
    await expect.poll(() => waiting(held)).toBe(2);
    await turns.release(held);
    const next = await second;
    await turns.release(held);
    expect(await waiting(held)).toBe(1);
    await turns.release(next);
    await third;
    await owner.close();
  });

  test('have at most 16 waiters', async () => {
    const [one, other] = [await replica(), await replica()];
    const session = newSession();
    const held = await one.turns.acquire(session, { signal });
    const leaving = new AbortController();
    const waiters = Array.from({ length: 16 }, (_, number) =>
      (number % 2 ? one : other).turns.acquire(session, { signal: leaving.signal }),
    );
    await expect.poll(() => waiting(held)).toBe(16);
    await expect(one.turns.acquire(session, { signal })).rejects.toMatchObject({
      code: 'session_busy',
      message: 'The session is busy with another message: 16 messages wait already.',
    });
    leaving.abort();
    await Promise.allSettled(waiters);
    await expect.poll(() => waiting(held)).toBe(0);
    await one.owner.close();
    await other.owner.close();
  });

  test('have a maximum waiting time', async () => {
    const { owner, turns } = await replica({ maxWaitMs: 50 });
    const session = newSession();
    const held = await turns.acquire(session, { signal });
    await expect(turns.acquire(session, { signal })).rejects.toMatchObject({
      code: 'session_busy',
    });
    await expect.poll(() => waiting(held)).toBe(0);
    await turns.release(held);
    await untilFree(session);
    await turns.acquire(session, { signal });
    await owner.close();
  });

  test('skip waiters that have left', async () => {
    const { owner, turns } = await replica();
    const session = newSession();
    const held = await turns.acquire(session, { signal });
    const leaving = new AbortController();
    const left = turns.acquire(session, { signal: leaving.signal });
    await expect.poll(() => waiting(held)).toBe(1);
    const next = turns.acquire(session, { signal });
    await expect.poll(() => waiting(held)).toBe(2);
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    await turns.release(held);
    await next;
    await expect(turns.acquire(session, { signal: AbortSignal.abort() })).rejects.toThrow(
      'aborted',
    );
    await owner.close();
  });

  test('continue after their holder and the first waiter died', async () => {
    const [dead, alive] = [await replica(), await replica()];
    const session = newSession();
    const held = await dead.turns.acquire(session, { signal });
    const leaving = new AbortController();
    const lost = dead.turns.acquire(session, { signal: leaving.signal }).catch(({ name }) => name);
    await expect.poll(() => waiting(held)).toBe(1);
    const next = alive.turns.acquire(session, { signal });
    await expect.poll(() => waiting(held)).toBe(2);
    leaving.abort();
    await kill(dead.owner);
    expect(await next).toMatchObject({ key: held.key, turns: 0 });
    expect(await lost).toBe('AbortError');
    await alive.owner.close();
    await dead.owner.close();
  });

  test('begin with a new session if the old one was forgotten', async () => {
    const { owner, turns } = await replica();
    const session = newSession();
    const held = await turns.acquire(session, { signal });
    const next = turns.acquire({ ...session, key: makeId('ses') }, { signal });
    await expect.poll(() => waiting(held)).toBe(1);
    await prisma.session.delete({ where: { id: held.key } });
    await turns.release(held);
    expect((await next).key).not.toBe(held.key);
    await owner.close();
  });
});

describe('a turn that becomes free', () => {
  test.skipIf(!inject('databaseUrl'))('is never taken twice', async () => {
    const [a, b, c] = [
      await replica(),
      await replica(),
      await startOwner({ prisma, sql, log, onLost: () => {} }),
    ];
    const tickets = createTickets({
      prisma,
      log,
      owner: c,
      pubsub: createPubSub(),
      maxWaitMs: 240_000,
    });
    // Sessions in the order of their ids; the one in the middle is held by A.
    const name = randomUUID();
    const [first, second, third] = ['1', '2', '3'].map((number) => newSession(name + number));
    if (!first || !second || !third) throw new Error('There are three.');
    for (const session of [first, third])
      await a.turns.release(await a.turns.acquire(session, { signal }));
    const held = await a.turns.acquire(second, { signal });
    const [freeFirst, freeThird] = [await lock(first), await lock(third)];
    // B requests all three in one statement, which blocks on the first row and so does not see the ticket of C.
    const byB = [first, second, third].map((session) => b.turns.acquire(session, { signal }));
    await untilWaiting(prisma, 1);
    const ticket = await tickets.enqueue(second);
    if (!ticket) throw new Error('The session exists.');
    await a.turns.release(held);
    // B takes the first two and blocks on the third. Only then C polls, and blocks on B's lock of the second.
    await freeFirst();
    await expect.poll(() => isLocked(second)).toBe(true);
    const byC = tickets.waitForTurn(ticket, signal);
    await untilWaiting(prisma, 2);
    await freeThird();
    const [one, two, three] = await Promise.all(byB);
    if (!one || !two || !three) throw new Error('B has all three.');
    const row = await prisma.session.findUniqueOrThrow({ where: { id: held.key } });
    expect(row.leaseId).toBe(two.leaseId);
    await Promise.all([one, two, three].map(b.turns.release));
    expect(await byC).toMatchObject({ key: held.key, leaseId: ticket.leaseId });
  });
});

describe('a message to a session while the database does not respond', () => {
  test('waits for statements of earlier messages no longer than its limit', async () => {
    const { owner } = await replica();
    const pending: PromiseWithResolvers<never>[] = [];
    const silent: Sql = () => {
      const deferred = Promise.withResolvers<never>();
      pending.push(deferred);
      return deferred.promise;
    };
    const maxWaitMs = 100;
    const pubsub = createPubSub();
    const turns = createTurns({ prisma, sql: silent, owner, pubsub, log, maxWaitMs });
    const session = newSession();
    const gone = new AbortController();
    const first = turns.acquire(session, { signal }).catch(String);
    const aborted = turns.acquire(session, { signal: gone.signal }).catch(String);
    const late = turns.acquire(session, { signal }).catch(String);
    gone.abort(new Error('The client left.'));
    const startedAt = performance.now();
    await expect.poll(() => performance.now() - startedAt > maxWaitMs && pending.length).toBe(1);
    pending[0]?.reject(new Error('No answer.'));
    expect(await Promise.all([first, aborted, late])).toEqual([
      'Error: No answer.',
      'Error: The client left.',
      expect.stringContaining('it was not free within 0.1 seconds'),
    ]);
    expect(pending).toHaveLength(1);
  });
});
