import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import { createOwner } from '../../../src/coordination/worker-lease.ts';
import { type Claim, newClaim } from '../../../src/idempotency/claim.ts';
import { createIdempotency } from '../../../src/idempotency/runs.ts';
import type { TurnRequest } from '../../../src/runs/life/begin.ts';
import { createRuns } from '../../../src/runs/life/runs.ts';
import type { NewSession } from '../../../src/sessions/history.ts';
import { createSessions } from '../../../src/sessions/sessions.ts';
import { createTurns } from '../../../src/sessions/turns.ts';
import type { Sql } from '../../../src/storage/sql.ts';
import { makeId } from '../../../src/text/ids.ts';
import { startApp } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { testDatabase } from '../../helpers/database.ts';
import { cutError } from '../../helpers/lossy-database.ts';
import { testRandom } from '../../helpers/random.ts';
import { queryClientOf, statementCounter } from '../../helpers/statements.ts';

const { prisma, sql } = await testDatabase();
const log = { warn: () => {}, error: () => {} };
const run = { environment: 'PRODUCTION', kind: 'CHAT', channel: 'API', input: 'Hi' } as const;

let accountId: string;
let botId: string;
beforeAll(async () => {
  accountId = makeId('acc');
  botId = makeId('bot');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
});

/** A replica. `statements` is the number of statements that it sent; `errors` has the failed ones. */
async function replica(through: Sql = sql) {
  const sent = { statements: 0, errors: [] as unknown[] };
  const counting: Sql = async (...statement) => {
    sent.statements += 1;
    return through<never>(...statement).catch((error) => {
      sent.errors.push(error);
      throw error;
    });
  };
  const owner = await createOwner({ prisma, sql, log, onLost: () => {} });
  atTheEnd(owner.close);
  const pubsub = createPubSub();
  const runs = createRuns({ prisma, sql: counting, owner, pubsub, notify: () => {}, log });
  const turns = createTurns({ prisma, sql: counting, owner, pubsub, log });
  const sessions = createSessions({ prisma, turns });
  const begin = ({ claim, turn }: { claim?: Claim; turn?: TurnRequest }) =>
    runs.begin({ ...run, botId, sessionId: turn?.session.sessionId ?? null }, { claim, turn });
  return { sent, begin, turns, sessions };
}

const newSession = (sessionId: string = randomUUID()): NewSession => ({
  key: makeId('ses'),
  botId,
  environment: 'PRODUCTION',
  sessionId,
});
const turnOf = (session: NewSession, leaseId = makeId('trn')): TurnRequest => ({
  session,
  leaseId,
  limit: 10,
});
const requestFor = (key: string, fingerprint = 'same') => ({
  accountId,
  namespace: `key:${botId}`,
  key,
  fingerprint,
});
const claimOf = (key: string) => newClaim(requestFor(key));
const recordOf = (key: string) => prisma.idempotencyRecord.findFirst({ where: { accountId, key } });
const runsOf = ({ sessionId }: NewSession) => prisma.run.findMany({ where: { sessionId } });
const idempotency = createIdempotency({ prisma, pubsub: createPubSub(), log });
const signal = new AbortController().signal;

describe('a request with a new idempotency key', () => {
  test('costs as many statements as a request without a key', async () => {
    const count = statementCounter();
    const app = await startApp();
    app.upstream.script(({ say, end }) => {
      say('Hello.');
      end();
    });
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const chat =
      'mutation ($bot: ID!, $input: ChatInput!) { chat(botId: $bot, input: $input) { response } }';
    const countOf = async (input: () => object) => {
      const send = () => tenant.graphql(chat, { bot, input: { message: 'Hi', ...input() } });
      return count(await queryClientOf(app, send, [tenant]), chat);
    };
    const without = await countOf(() => ({}));
    const withKey = await countOf(() => ({ idempotencyKey: randomUUID() }));
    expect(without).toBeGreaterThan(0);
    expect(withKey).toBe(without);
  });

  test('claims the key, acquires the turn and creates the run in one statement', async () => {
    const { begin, sent } = await replica();
    const [session, claim] = [newSession(), claimOf(randomUUID())];
    const outcome = await begin({ claim, turn: turnOf(session) });
    expect(outcome).toMatchObject({ kind: 'begun', session: { key: session.key, turns: 0 } });
    expect(sent.statements).toBe(1);
    const [created] = await runsOf(session);
    expect(await recordOf(claim.key)).toMatchObject({ claimId: claim.id, runId: created?.id });
    expect(await idempotency.findRun(claim, signal)).toBe(created?.id);
  });

  test('takes over an expired key', async () => {
    const { begin } = await replica();
    const [first, second] = [claimOf('expired'), claimOf('expired')];
    await begin({ claim: first });
    await prisma.idempotencyRecord.updateMany({
      where: { accountId, key: 'expired' },
      data: { expiresAt: new Date(0) },
    });
    expect(await begin({ claim: second })).toMatchObject({ kind: 'begun' });
    expect(await recordOf('expired')).toMatchObject({ claimId: second.id });
  });
});

describe('a request whose key another request has', () => {
  test('acquires no turn and creates no run', async () => {
    const { begin } = await replica();
    const [first, second] = [newSession(), newSession()];
    const key = randomUUID();
    await begin({ claim: claimOf(key), turn: turnOf(first) });
    const outcome = await begin({ claim: claimOf(key), turn: turnOf(second) });
    expect(outcome).toEqual({ kind: 'keyTaken' });
    expect(await runsOf(second)).toEqual([]);
    expect(await prisma.session.count({ where: { sessionId: second.sessionId } })).toBe(0);
  });

  test('gets the same outcome in one batch with that request', async () => {
    const { begin, sent } = await replica();
    const keys = [randomUUID(), randomUUID()];
    const outcomes = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((number) =>
        begin({ claim: claimOf(keys[number % 2] ?? ''), turn: turnOf(newSession()) }),
      ),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      'begun',
      'begun',
      ...Array(4).fill('keyTaken'),
    ]);
    expect(sent).toEqual({ statements: 1, errors: [] });
  });

  test('is a conflict if it differs', async () => {
    const { begin } = await replica();
    const key = randomUUID();
    await begin({ claim: claimOf(key) });
    const other = requestFor(key, 'other');
    expect(await begin({ claim: newClaim(other) })).toEqual({ kind: 'keyTaken' });
    await expect(idempotency.findRun(other, signal)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });
});

describe('a request to a busy session', () => {
  test('keeps its key, and begins its run once it has the turn', async () => {
    const { begin, turns } = await replica();
    const [session, claim] = [newSession(), claimOf(randomUUID())];
    const held = await turns.acquire(session, { signal });
    expect(await begin({ claim, turn: turnOf(session) })).toEqual({ kind: 'turnBusy' });
    expect(await runsOf(session)).toEqual([]);
    expect(await recordOf(claim.key)).toMatchObject({ claimId: claim.id });
    expect(await begin({ claim: claimOf(claim.key) })).toEqual({ kind: 'keyTaken' });

    const repeat = idempotency.findRun(claim, signal);
    const outcome = await begin({ claim, turn: turnOf(session, held.leaseId) });
    expect(outcome).toMatchObject({
      kind: 'begun',
      session: held,
      recollection: { messages: [], facts: {} },
    });
    const [created] = await runsOf(session);
    expect(await repeat).toBe(created?.id);
  });

  test('does not disturb the holder of the turn in the same batch', async () => {
    const { begin, turns, sent } = await replica();
    const session = newSession();
    const held = await turns.acquire(session, { signal });
    sent.statements = 0;
    const outcomes = await Promise.all([
      begin({ turn: turnOf(session) }),
      begin({ turn: turnOf(session, held.leaseId) }),
      begin({ turn: turnOf(session) }),
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['turnBusy', 'begun', 'turnBusy']);
    expect(sent).toEqual({ statements: 1, errors: [] });
  });

  test('releases its idempotency key if it stops waiting for the session', async () => {
    const { begin, turns } = await replica();
    const [session, claim] = [newSession(), claimOf(randomUUID())];
    await turns.acquire(session, { signal });
    await begin({ claim, turn: turnOf(session) });
    await idempotency.release(claim);
    expect(await idempotency.findRun(claim, signal)).toBeUndefined();
    expect(await begin({ claim: claimOf(claim.key) })).toMatchObject({ kind: 'begun' });
  });
});

describe('a run whose creation committed, though the response was lost', () => {
  test('begins with the same key and the same turn when the statement is repeated', async () => {
    let lost = 0;
    const { begin, sent } = await replica(async (...statement) => {
      const rows = await sql<never>(...statement);
      if (lost > 0) return rows;
      lost += 1;
      throw cutError();
    });
    const [session, claim] = [newSession(), claimOf(randomUUID())];
    const turn = turnOf(session);
    const outcome = await begin({ claim, turn });
    expect(outcome).toMatchObject({ kind: 'begun', session: { leaseId: turn.leaseId } });
    expect(sent.statements).toBe(2);
    const stored = await runsOf(session);
    expect(stored).toHaveLength(1);
    expect(await recordOf(claim.key)).toMatchObject({ claimId: claim.id, runId: stored[0]?.id });
  });

  test('is left to recovery, and its key and its turn are released, if no repeat gets a response', async () => {
    const { begin } = await replica(async (...statement) => {
      await sql(...statement);
      throw new Error('The connection was cut.');
    });
    const [session, claim] = [newSession(), claimOf(randomUUID())];
    await expect(begin({ claim, turn: turnOf(session) })).rejects.toThrow(
      'The connection was cut.',
    );
    // The request fails after half a second, though the database may need longer.
    const { sessionId } = session;
    const where = { botId, sessionId, leaseId: { not: null } };
    await expect.poll(() => prisma.session.count({ where })).toBe(0);
    await expect.poll(() => recordOf(claim.key)).toBeNull();
    await expect.poll(() => runsOf(session)).toMatchObject([{ ownerId: null }]);
    const after = await replica();
    const again = await after.begin({ claim: claimOf(claim.key), turn: turnOf(session) });
    expect(again).toMatchObject({ kind: 'begun' });
  });
});

describe('requests of several replicas with crossing keys and sessions', () => {
  test.skipIf(!inject('databaseUrl'))('never deadlock', async () => {
    const random = testRandom();
    const replicas = await Promise.all([replica(), replica(), replica(), replica()]);
    const name = randomUUID();
    const numbers = Array.from({ length: 12 }, (_, number) => number);
    const shuffled = () =>
      numbers
        .map((number) => ({ number, place: random.int(0, 1e9) }))
        .sort((one, other) => one.place - other.place)
        .map(({ number }) => number);
    const known = numbers.map((number) => newSession(`${name}-${number}`));
    /** The keys of runs in sessions that nobody forgot in the same round: forgetting a session releases its keys. */
    const keptKeys: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      const forgotten = replicas.map((_, index) => (round + index) % known.length);
      const sent = replicas.flatMap(({ begin, turns }) =>
        shuffled().map(async (number, index) => {
          const session = { ...(known[number] ?? newSession()), key: makeId('ses') };
          const key = `${name}-${round}-${(number * 5 + index) % numbers.length}`;
          const outcome = await begin({ claim: claimOf(key), turn: turnOf(session) });
          if (outcome.kind !== 'begun') return;
          if (!forgotten.includes(number)) keptKeys.push(key);
          if (outcome.session) await turns.release(outcome.session);
        }),
      );
      const forgetting = replicas.map(({ sessions }, index) => {
        const { key: _, ...session } = known[forgotten[index] ?? 0] ?? newSession();
        return sessions.forget(session, signal, { accountId, keyId: makeId('key') });
      });
      await Promise.all([...sent, ...forgetting]);
    }
    expect(replicas.flatMap(({ sent }) => sent.errors)).toEqual([]);
    expect(keptKeys.length).toBeGreaterThan(0);
    expect(new Set(keptKeys).size).toBe(keptKeys.length);
  });
});
