import { beforeAll, describe, expect, inject, test } from 'vitest';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import { createRuns, type Runs } from '../../../src/runs/life/runs.ts';
import type { NewSession } from '../../../src/sessions/history.ts';
import { makeId } from '../../../src/text/ids.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { testDatabase } from '../../helpers/database.ts';
import { hold, untilWaiting } from '../../helpers/locks.ts';
import { startOwner } from '../../helpers/owners.ts';

const { prisma, sql } = await testDatabase();
const log = { warn: () => {}, error: () => {} };
const run = { environment: 'PRODUCTION', kind: 'CHAT', channel: 'API', input: 'Hi' } as const;

let runs: Runs;
let botId: string;
let ownerId: string;
const runId = makeId('run');
beforeAll(async () => {
  const accountId = makeId('acc');
  botId = makeId('bot');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
  await prisma.run.create({ data: { id: runId, botId, status: 'COMPLETED', ...run } });
  const owner = await startOwner({ prisma, sql, log, onLost: () => {} });
  atTheEnd(owner.close);
  ownerId = owner.id();
  runs = createRuns({ prisma, sql, owner, pubsub: createPubSub(), notify: () => {}, log });
});

const begin = async (session: NewSession, limit = 10) => {
  const outcome = await runs.begin(
    { ...run, botId, sessionId: session.sessionId },
    { turn: { session, leaseId: makeId('trn'), limit } },
  );
  return outcome.kind === 'begun' ? outcome : undefined;
};

const newSession = (): NewSession => {
  const key = makeId('ses');
  return { key, botId, environment: 'PRODUCTION', sessionId: key };
};

/** A session with one turn, whose user message is "Hi". */
const existingSession = async (lease: { leaseOwner?: string; leaseId?: string } = {}) => {
  const { key: id, ...session } = newSession();
  await prisma.session.create({ data: { id, ...session, turns: 1, ...lease } });
  await createMessage(id, 1, 'Hi');
  return { key: id, ...session };
};

const createMessage = (
  sessionKey: string,
  turn: number,
  text: string,
  tx: Pick<typeof prisma, 'message'> = prisma,
) =>
  tx.message.create({
    data: {
      id: makeId('msg'),
      sessionKey,
      runId,
      turn,
      position: 0,
      role: 'USER',
      text,
    },
  });

describe('a run that begins together with its turn', () => {
  test('creates a new session', async () => {
    const session = newSession();
    const turn = await begin(session);
    expect(turn).toMatchObject({
      session: { key: session.key, turns: 0 },
      recollection: { messages: [], facts: {} },
    });
    expect(await prisma.session.findUnique({ where: { id: session.key } })).toMatchObject({
      leaseOwner: ownerId,
      leaseId: turn?.session?.leaseId,
    });
    expect(await prisma.run.findUnique({ where: { id: turn?.begun.id ?? '' } })).toMatchObject({
      status: 'RUNNING',
      ownerId,
      sessionId: session.sessionId,
      input: 'Hi',
    });
  });

  test('gets as many past messages as requested, and the stored facts about the user', async () => {
    const session = await existingSession();
    await createMessage(session.key, 2, 'Again');
    await prisma.session.update({ where: { id: session.key }, data: { turns: 2 } });
    await prisma.memoryEntry.create({
      data: { sessionKey: session.key, name: 'pet', value: 'cat' },
    });
    const turn = await begin({ ...session, key: makeId('ses') }, 1);
    expect(turn).toMatchObject({
      session: { key: session.key, turns: 2 },
      recollection: { messages: [{ role: 'USER', text: 'Again' }], facts: { pet: 'cat' } },
    });
  });

  test('does not begin while another run has the turn', async () => {
    const session = await existingSession({ leaseOwner: ownerId, leaseId: makeId('trn') });
    expect(await begin(session)).toBeUndefined();
    expect(await prisma.run.count({ where: { sessionId: session.sessionId } })).toBe(0);
  });

  test.skipIf(!inject('databaseUrl'))(
    'does not use a session state read before the previous turn ended',
    async () => {
      const session = await existingSession({ leaseOwner: ownerId, leaseId: makeId('trn') });
      const { key: id } = session;
      const ended = { turns: 2, leaseOwner: null, leaseId: null };
      const commit = await hold(prisma, async (tx) => {
        await createMessage(id, 2, 'Again', tx);
        await tx.session.update({ where: { id }, data: ended });
      });
      const beginning = begin({ ...session, key: makeId('ses') });
      await untilWaiting(prisma, 1);
      await commit();
      expect(await beginning).toMatchObject({
        session: { key: id, turns: 2 },
        recollection: undefined,
      });
    },
  );
});
