import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startRetention } from '../../../src/runs/life/retention.ts';
import { firstIdAt, makeId } from '../../../src/text/ids.ts';
import { testDatabase } from '../../helpers/database.ts';
import { makeEvaluation } from '../../helpers/evaluations.ts';

const { prisma } = await testDatabase();
const log = { warn: () => {}, error: () => expect.unreachable() };
const DAY_MS = 24 * 60 * 60 * 1_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

const SAME = { environment: 'PRODUCTION', kind: 'CHAT', channel: 'API', input: 'Hi' } as const;

async function newBot() {
  const accountId = makeId('acc');
  const botId = makeId('bot');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });

  const run = async (age: number, more = {}) => {
    const row = { id: makeId('run'), botId, status: 'COMPLETED' as const, ...SAME };
    return (await prisma.run.create({ data: { ...row, createdAt: daysAgo(age), ...more } })).id;
  };
  const session = async (age: number, runIds: string[] = []) => {
    const id = makeId('ses');
    const messages = runIds.map((runId, turn) => ({
      id: makeId('msg'),
      runId,
      turn,
      position: 0,
      role: 'USER' as const,
      text: 'Hi',
    }));
    await prisma.session.create({
      data: {
        id,
        botId,
        environment: 'PRODUCTION',
        sessionId: id,
        lastSeenAt: daysAgo(age),
        messages: { create: messages },
      },
    });
    return id;
  };
  return {
    accountId,
    botId,
    run,
    session,
    runs: () => prisma.run.findMany({ where: { botId }, select: { id: true } }).then(ids),
    sessions: () => prisma.session.findMany({ where: { botId }, select: { id: true } }).then(ids),
  };
}

const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).sort();

/** Sweeps until `done`. */
async function sweep(days: number | undefined, done: () => Promise<unknown>) {
  await using _retention = startRetention({ prisma, log, days });
  await expect.poll(done).toBe(true);
}

describe('the retention sweep', () => {
  test('deletes the texts of old tool calls, but not of a call that waits', async () => {
    const bot = await newBot();
    const runId = await bot.run(0);
    const call = async (ageMs: number, status: 'COMPLETED' | 'WAITING') => {
      const id = `${firstIdAt('tcl', Date.now() - ageMs).slice(0, -8)}${randomUUID().replaceAll('-', '').slice(0, 8)}`;
      const texts = { arguments: '{}', result: 'Done.', request: { method: 'GET', url: '/' } };
      const facts = { position: 0, callId: 'call', name: 'a.b', digest: id, startedAt: new Date() };
      await prisma.toolCall.create({ data: { id, runId, status, ...facts, ...texts } });
      if (status === 'WAITING') await waits(id, runId);
      return id;
    };
    const waits = (id: string, run: string) =>
      prisma.approval.create({
        data: {
          ...{ id, runId: run, botId: bot.botId, deploymentId: 'dep', name: 'a.b', digest: id },
          ...{ environment: 'PRODUCTION', channel: 'API', background: false, values: {} },
          expiresAt: new Date('2100-01-01'),
        },
      });
    const old = await call(31 * DAY_MS, 'COMPLETED');
    const kept = [await call(29 * DAY_MS, 'COMPLETED'), await call(31 * DAY_MS, 'WAITING')];
    const withTexts = async () => {
      const where = { runId, arguments: { not: null } };
      return ids(await prisma.toolCall.findMany({ where, select: { id: true } }));
    };
    await sweep(undefined, async () => !(await withTexts()).includes(old));
    expect(await withTexts()).toEqual(kept.sort());
    const { result, request } = await prisma.toolCall.findUniqueOrThrow({ where: { id: old } });
    expect([result, request]).toEqual([null, null]);
  });

  test('deletes old runs with their messages, but no newer, active or queued run', async () => {
    const bot = await newBot();
    const old = await bot.run(31);
    const kept = await bot.run(29);
    const { id: ownerId } = await prisma.owner.create({ data: { id: makeId('own') } });
    const active = await bot.run(40, { status: 'RUNNING', ownerId });
    const waiting = await bot.run(40, { status: 'QUEUED' });
    const session = await bot.session(0, [old, kept]);
    await sweep(30, async () => !(await bot.runs()).includes(old));
    expect(await bot.runs()).toEqual([kept, active, waiting].sort());
    const left = await prisma.message.findMany({ where: { sessionKey: session } });
    expect(left.map(({ runId }) => runId)).toEqual([kept]);
    await prisma.owner.delete({ where: { id: ownerId } });
  });

  test('keeps a run that ended recently, even after a long time in the queue', async () => {
    const bot = await newBot();
    const background = { kind: 'EXECUTE', background: true };
    const ended = await bot.run(2, { ...background, finishedAt: daysAgo(1.01) });
    const [justEnded, ofToday] = [
      await bot.run(3, { ...background, finishedAt: new Date() }),
      await bot.run(4_000, { ...background, finishedAt: daysAgo(0.99) }),
    ];
    await sweep(1, async () => !(await bot.runs()).includes(ended));
    expect(await bot.runs()).toEqual([justEnded, ofToday].sort());
  });

  test('deletes drafts and their sessions after a day, even if runs are kept without limit', async () => {
    const bot = await newBot();
    const old = await bot.run(1.01, { kind: 'DRAFT' });
    const [young, justEnded, chat] = [
      await bot.run(0.99, { kind: 'DRAFT' }),
      await bot.run(3, { kind: 'DRAFT', finishedAt: daysAgo(0.99) }),
      await bot.run(3),
    ];
    const [oldSession, youngSession, user] = [
      await bot.session(1.01),
      await bot.session(0.99),
      await bot.session(3),
    ];
    for (const id of [oldSession, youngSession])
      await prisma.session.update({ where: { id }, data: { sessionId: `draft_${id}` } });
    await prisma.session.update({ where: { id: user }, data: { sessionId: 'draft_ses_1' } });
    await sweep(undefined, async () => {
      const left = [...(await bot.runs()), ...(await bot.sessions())];
      return !left.includes(old) && !left.includes(oldSession);
    });
    expect(await bot.runs()).toEqual([young, justEnded, chat].sort());
    expect(await bot.sessions()).toEqual([youngSession, user].sort());
  });

  test('deletes the prompts of runs after their own limit', async () => {
    const bot = await newBot();
    const prompted = async (age: number) => {
      const id = firstIdAt('run', daysAgo(age).getTime()).slice(0, -6) + makeId('run').slice(-6);
      await prisma.runPrompt.create({
        data: { runId: await bot.run(age, { id }), prompt: { now: '' } },
      });
      return id;
    };
    const [old, young] = [await prompted(30.01), await prompted(29.99)];
    const left = async () =>
      (await prisma.runPrompt.findMany({ where: { runId: { in: [old, young] } } })).map(
        ({ runId }) => runId,
      );
    await sweep(undefined, async () => !(await left()).includes(old));
    expect(await left()).toEqual([young]);
    expect(await bot.runs()).toEqual([old, young].sort());
  });

  test('deletes audit log entries after 400 days, even if runs are kept without limit', async () => {
    const { accountId } = await newBot();
    const entry = (age: number) => ({
      id: makeId('aud'),
      accountId,
      action: 'DEPLOY' as const,
      targetId: 'dep_1',
      createdAt: daysAgo(age),
    });
    const [old, kept] = [entry(400.01), entry(399.99)];
    await prisma.auditEntry.createMany({ data: [old, kept] });
    const left = async () =>
      ids(await prisma.auditEntry.findMany({ where: { accountId }, select: { id: true } }));
    await sweep(undefined, async () => !(await left()).includes(old.id));
    expect(await left()).toEqual([kept.id]);
  });

  test('deletes evaluations with their cases 90 days after their end', async () => {
    const bot = await newBot();
    const evaluation = async (age: number) => {
      const id = await makeEvaluation({ prisma }, bot.botId);
      await prisma.evaluation.update({ where: { id }, data: { finishedAt: daysAgo(age) } });
      return id;
    };
    const [old, kept] = [await evaluation(91), await evaluation(89)];
    const left = async () =>
      ids(await prisma.evaluation.findMany({ where: { botId: bot.botId }, select: { id: true } }));
    await sweep(undefined, async () => !(await left()).includes(old));
    expect(await left()).toEqual([kept]);
    expect(await prisma.evaluationCase.count({ where: { evaluationId: old } })).toBe(0);
  });

  test('deletes empty sessions that were last seen before the limit', async () => {
    const bot = await newBot();
    const [oldRun, youngRun] = [await bot.run(35), await bot.run(1)];
    const empty = await bot.session(31);
    const emptied = await bot.session(31, [oldRun]);
    const withFacts = await bot.session(31);
    await prisma.memoryEntry.create({
      data: { sessionKey: withFacts, name: 'name', value: 'Ada' },
    });
    const withMessages = await bot.session(31, [youngRun]);
    const busy = await bot.session(31);
    const owner = await prisma.owner.create({
      data: { id: makeId('own'), heartbeatAt: new Date(Date.now() + DAY_MS) },
    });
    await prisma.session.update({
      where: { id: busy },
      data: { leaseOwner: owner.id, leaseId: 'lease' },
    });
    const young = await bot.session(29);
    await sweep(30, async () => {
      const left = await bot.sessions();
      return !left.includes(empty) && !left.includes(emptied);
    });
    expect(await bot.sessions()).toEqual([withFacts, withMessages, busy, young].sort());
    await prisma.owner.delete({ where: { id: owner.id } });
  });

  test('keeps every run without a limit, but deletes expired idempotency records', async () => {
    const bot = await newBot();
    const old = await bot.run(4_000);
    const record = (expiresAt: Date) => ({
      accountId: bot.accountId,
      namespace: 'key:bot',
      key: randomUUID(),
      fingerprint: 'x',
      expiresAt,
    });
    const present = record(new Date(Date.now() + DAY_MS));
    // The same key in another namespace is another record.
    const past = { ...record(daysAgo(0.01)), namespace: 'key:other', key: present.key };
    await prisma.idempotencyRecord.createMany({ data: [past, present] });
    const records = () =>
      prisma.idempotencyRecord.findMany({ where: { accountId: bot.accountId } });
    await sweep(undefined, async () => (await records()).length < 2);
    expect(await records()).toMatchObject([{ namespace: present.namespace, key: present.key }]);
    expect(await bot.runs()).toEqual([old]);
  });

  test('deletes in batches, in two processes at the same time', async () => {
    const bot = await newBot();
    const rows = Array.from({ length: 1_201 }, () => ({
      id: makeId('run'),
      botId: bot.botId,
      status: 'FAILED' as const,
      createdAt: daysAgo(2),
      ...SAME,
    }));
    await prisma.run.createMany({ data: rows });
    const young = await bot.run(0);
    // A process skips a batch while the other one sweeps, so both may skip a table until their next sweep.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    await using _other = startRetention({ prisma, log, days: 1 });
    await sweep(1, async () => {
      vi.advanceTimersByTime(10 * 60_000);
      return (await bot.runs()).length === 1;
    });
    expect(await bot.runs()).toEqual([young]);
  });
});
