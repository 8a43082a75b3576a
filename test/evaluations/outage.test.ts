import { expect, test, vi } from 'vitest';
import { createExecute } from '../../src/evaluations/execute.ts';
import type { TakenEvaluation, Work } from '../../src/evaluations/work.ts';

const SOURCE =
  'agentlang 5\nagent "T" { prompt "p" test "greets" { user "Hi" expect reply contains "Hi" } }';
const EVALUATION: TakenEvaluation = {
  id: 'eva_1',
  botId: 'bot',
  accountId: 'acc_1',
  source: SOURCE,
  envVars: null,
  model: null,
  judgeModel: null,
  repeat: 1,
  replaySession: true,
  attempts: 1,
};
const OUTAGE = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** Executes an evaluation of one test, with a database that responds as the test defines. */
function execute(work: Partial<Work>) {
  const all = {
    take: vi.fn(),
    open: async () => [{ id: 'eca_1', name: 'greets', runId: null, finished: 0 }],
    state: async () => ({ isOwned: true, isCancelled: false }),
    store: vi.fn(async () => true),
    end: vi.fn(async () => {}),
    release: vi.fn(async () => {}),
    ...work,
  };
  const run = createExecute({
    prisma: { account: { findUniqueOrThrow: async () => ({ id: 'acc_1' }) } } as never,
    work: all,
    runTest: async () => ({ verdict: 'PASSED', turns: [] }),
    runReplay: vi.fn(),
    readRecordedRun: vi.fn(),
    cipher: {} as never,
    read: async () => ({ definition: { model: {} }, tests: [{ name: 'greets' }] }) as never,
    limits: { takeForAccount: async () => ({ allowed: true, retryAfter: 0 }) as never },
    notify: () => {},
    log: { error: () => {}, warn: () => {} } as never,
  });
  return { work: all, done: run(EVALUATION, new AbortController().signal) };
}

test('an evaluation whose result could not be stored in an outage is returned to the queue', async () => {
  const { work, done } = execute({ store: vi.fn(async () => Promise.reject(OUTAGE)) });
  await done;
  expect(work.end).not.toHaveBeenCalled();
  expect(work.release).toHaveBeenCalledWith('eva_1');
});

test('the end of an evaluation is stored once an outage is over', async () => {
  let isDown = true;
  const end = vi.fn(async () => {
    if (isDown) throw OUTAGE;
  });
  const { done } = execute({ end });
  await done;
  const before = end.mock.calls.length;
  isDown = false;
  await expect.poll(() => end.mock.calls.length, { timeout: 30_000 }).toBeGreaterThan(before);
  expect(end).toHaveBeenLastCalledWith('eva_1', { status: 'COMPLETED' });
});
