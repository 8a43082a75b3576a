import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { wakeWhile } from '../../src/coordination/looks.ts';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import { EVALUATION_WORK, IS_WORK_DUE } from '../../src/deployments/evaluation-work.ts';
import { startWorker } from '../../src/evaluations/worker.ts';
import type { Prisma } from '../../src/generated/prisma/client.ts';
import { makeId } from '../../src/text/ids.ts';
import { migratedDatabase } from '../helpers/database.ts';
import { startLooks } from '../helpers/looks.ts';
import { startOwner } from '../helpers/owners.ts';

const database = await migratedDatabase('evaluations_due');
const { prisma, sql } = database;
const log = { warn: () => {}, error: () => {} };
const accountId = makeId('acc');
const botId = makeId('bot');
const owner = await startOwner({ prisma, sql, log, onLost: () => {} });

beforeAll(async () => {
  await prisma.account.create({ data: { id: accountId, name: 'Due', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Due' } });
});
afterEach(async () => {
  await prisma.deployment.deleteMany();
  await prisma.evaluation.deleteMany();
});
afterAll(async () => {
  await owner.close();
  await database.close();
});

const evaluation = (data: Partial<Prisma.EvaluationUncheckedCreateInput> = {}) =>
  prisma.evaluation.create({
    data: {
      id: makeId('eva'),
      botId,
      accountId,
      environment: 'PRODUCTION',
      source: '',
      sourceHash: '0'.repeat(64),
      repeat: 1,
      cases: 1,
      ...data,
    },
  });

const deployment = (data: Partial<Prisma.DeploymentUncheckedCreateInput>) =>
  prisma.deployment.create({
    data: {
      id: makeId('dep'),
      botId,
      environment: 'PRODUCTION',
      version: 1,
      status: 'PENDING',
      source: '',
      diagnostics: [],
      ...data,
    },
  });

const gate = { tests: true, replay: null, repeat: 1 };
const running = { status: 'RUNNING', ownerId: owner.id() } as const;
const ended = { status: 'COMPLETED', finishedAt: new Date() } as const;

const isDue = async () => {
  const [row] = await prisma.$queryRaw<{ due: boolean }[]>`SELECT ${IS_WORK_DUE} AS due`;
  return row?.due;
};

test.each<[due: boolean, what: string, store: () => Promise<unknown>]>([
  [false, 'without evaluations', async () => {}],
  [true, 'a queued evaluation', () => evaluation()],
  [false, 'an evaluation of this process', () => evaluation(running)],
  [true, 'an evaluation of a dead process', () => evaluation({ ...running, ownerId: 'own_dead' })],
  [true, 'an evaluation that was returned', () => evaluation({ ...running, ownerId: null })],
  [false, 'a queued evaluation behind another', () => evaluation(running).then(() => evaluation())],
  [false, 'an evaluation that has ended', () => evaluation(ended)],
  [true, 'a gate without an evaluation', () => deployment({ gate })],
  [true, 'a gate whose evaluation is gone', () => deployment({ gate, evaluationId: 'eva_gone' })],
  [
    false,
    'a gate whose evaluation runs',
    async () => deployment({ gate, evaluationId: (await evaluation(running)).id }),
  ],
  [
    true,
    'a gate whose evaluation has ended',
    async () => deployment({ gate, evaluationId: (await evaluation(ended)).id }),
  ],
  [
    true,
    'an evaluation whose deployment no longer waits',
    async () => deployment({ status: 'FAILED', evaluationId: (await evaluation(running)).id }),
  ],
  [
    false,
    'an evaluation that is cancelled already',
    async () =>
      deployment({
        status: 'FAILED',
        evaluationId: (await evaluation({ ...running, cancelRequested: true })).id,
      }),
  ],
  [false, 'a deployment without a gate', () => deployment({ status: 'DEPLOYED' })],
])('work is due: %s, with %s', async (due, _what, store) => {
  await store();
  expect(await isDue()).toBe(due);
});

test('looks wake the workers while work is due', async () => {
  const pubsub = createPubSub();
  const woken = new Promise<string>((resolve) => pubsub.subscribe(EVALUATION_WORK, resolve));
  await evaluation({ ...running, ownerId: 'own_dead' });
  const due = { what: 'The start of evaluations', condition: IS_WORK_DUE };
  await using _looks = startLooks(
    database,
    wakeWhile({ ...due, pubsub, channel: EVALUATION_WORK }),
  );
  expect(await woken).toBe('');
});

test('an idle worker asks for work when it is notified, and not between', async () => {
  vi.useFakeTimers();
  const pubsub = createPubSub();
  const take = vi.fn(async () => undefined);
  const advance = vi.fn(async () => {});
  const execute = vi.fn();
  await using worker = startWorker({ work: { take }, gates: { advance }, execute, pubsub, log });
  expect(worker).toBeDefined();
  await vi.advanceTimersByTimeAsync(50_000);
  expect([take.mock.calls.length, advance.mock.calls.length]).toEqual([1, 1]);
  pubsub.publish(EVALUATION_WORK, '');
  await vi.advanceTimersByTimeAsync(0);
  expect([take.mock.calls.length, advance.mock.calls.length]).toEqual([2, 2]);
  vi.useRealTimers();
});
