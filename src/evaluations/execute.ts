import { setTimeout } from 'node:timers/promises';
import type { Limits } from '../accounts/limits.ts';
import { startPeriodic } from '../async/periodic.ts';
import type { EnvironmentCipher } from '../deployments/environment.ts';
import type { ReadSource } from '../deployments/read-source.ts';
import { GatewayError } from '../errors/errors.ts';
import { isOutage } from '../errors/outage.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { AgentTest } from '../language/agent-test.ts';
import type { Log } from '../observability/log.ts';
import { createRedactor } from '../redaction/redact.ts';
import { MAX_ERROR_LENGTH } from '../runs/life/runs.ts';
import { persist } from '../storage/persist.ts';
import type { Attempt } from './case-result.ts';
import type { EvaluatedDeployment } from './judge.ts';
import type { ReadRecordedRun } from './recorded-run.ts';
import type { RunReplay } from './run-replay.ts';
import type { RunTest } from './run-test.ts';
import {
  type EvaluationEnd,
  MAX_ATTEMPTS,
  type OpenCase,
  type TakenEvaluation,
  type Work,
} from './work.ts';

/** Executes an evaluation that this process has taken, from its first case without a verdict. */
export type Execute = (evaluation: TakenEvaluation, stopped: AbortSignal) => Promise<void>;

/** Cases of an evaluation at a time. An account has one evaluation at a time. */
const CONCURRENT = 4;
/**
 * The least time between two attempts of a worker. A model that answers at once would otherwise let an evaluation take the
 * whole process, and the chats beside it would wait. 500 attempts take at least 20 seconds.
 */
const ATTEMPT_EVERY_MS = 160;
/** How often an evaluation is checked for a cancellation and for its owner. */
const LOOK_EVERY_MS = 500;
const MINUTE_S = 60;
const INTERRUPTED = `The server stopped in each of ${MAX_ATTEMPTS} attempts at the evaluation. There is no further attempt.`;
const OUT_OF_REQUESTS =
  'The account has no requests left today. The finished cases are kept; start the evaluation again tomorrow.';

/** Why the work on an evaluation ends before its cases do. */
const CANCELLED = Symbol('cancelled');
const LOST = Symbol('lost');

export function createExecute({
  prisma,
  work,
  runTest,
  runReplay,
  readRecordedRun,
  cipher,
  read,
  limits,
  notify,
  log,
}: {
  prisma: PrismaClient;
  work: Work;
  runTest: RunTest;
  runReplay: RunReplay;
  readRecordedRun: ReadRecordedRun;
  cipher: EnvironmentCipher;
  read: ReadSource;
  limits: Pick<Limits, 'takeForAccount'>;
  notify(id: string): void;
  log: Log;
}): Execute {
  const deploymentOf = async (evaluation: TakenEvaluation) => {
    const { id, accountId, source, envVars, model, judgeModel } = evaluation;
    const { definition, tests } = await read(source, { isDeployed: true });
    if (!definition) throw new GatewayError('definition_invalid', 'The definition has errors.');
    const variables = envVars ? cipher.decrypt(id, envVars) : {};
    const { fallback: _, ...settings } = definition.model;
    const deployment: EvaluatedDeployment = {
      deploymentId: `evaluation ${id}`,
      isDraft: true,
      accountId,
      definition:
        model === null ? definition : { ...definition, model: { ...settings, name: model } },
      variables,
      redactor: createRedactor(variables),
      judgeModel,
    };
    return { deployment, tests };
  };

  /** Counts a case as a request of the account. Waits for the next minute, but not for the next day. */
  const takeRequest = async ({ accountId }: TakenEvaluation, signal: AbortSignal) => {
    for (;;) {
      const account = await prisma.account.findUniqueOrThrow({ where: { id: accountId } });
      const { allowed, retryAfter } = await limits.takeForAccount(account, 1);
      if (allowed) return;
      if (retryAfter > MINUTE_S) throw new GatewayError('rate_limit_exceeded', OUT_OF_REQUESTS);
      await setTimeout(retryAfter * 1_000, undefined, { signal });
    }
  };

  const executeCases = async (evaluation: TakenEvaluation, signal: AbortSignal) => {
    const { deployment, tests } = await deploymentOf(evaluation);
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const executeTest = async (test: AgentTest) => {
      await takeRequest(evaluation, either);
      return runTest(deployment, test, either);
    };
    const executeReplay = async (runId: string, caseId: string): Promise<Attempt> => {
      const { botId, replaySession } = evaluation;
      const recorded = await readRecordedRun(botId, runId, replaySession);
      if ('reason' in recorded) return { verdict: 'SKIPPED', error: recorded.reason, turns: [] };
      await takeRequest(evaluation, either);
      return runReplay(deployment, recorded, caseId, either);
    };
    const executeCase = async (open: OpenCase, pace: () => Promise<void>) => {
      const { id, runId, name } = open;
      const test = tests.find((one) => one.name === name);
      for (let { finished } = open; finished < evaluation.repeat; finished += 1) {
        await pace();
        either.throwIfAborted();
        const result =
          runId === null ? test && (await executeTest(test)) : await executeReplay(runId, id);
        if (!result) return;
        either.throwIfAborted();
        const isStored = await work.store(evaluation, { ...open, finished }, result);
        if (!isStored) throw LOST;
        notify(evaluation.id);
      }
    };
    const cases = (await work.open(evaluation.id)).values();
    const worker = async (index: number) => {
      const pace = createPace((index * ATTEMPT_EVERY_MS) / CONCURRENT, either);
      for (const open of cases) await executeCase(open, pace);
    };
    const workers = Array.from({ length: CONCURRENT }, (_, index) =>
      worker(index).catch((error) => {
        failed.abort(error);
        throw error;
      }),
    );
    const results = await Promise.allSettled(workers);
    if (failed.signal.aborted && !signal.aborted) throw failed.signal.reason;
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };

  const endOf = async (
    evaluation: TakenEvaluation,
    signal: AbortSignal,
  ): Promise<EvaluationEnd> => {
    if (evaluation.attempts > MAX_ATTEMPTS) return { status: 'FAILED', note: INTERRUPTED };
    try {
      await executeCases(evaluation, signal);
      return { status: 'COMPLETED' };
    } catch (error) {
      if (signal.aborted || error === LOST || isOutage(error)) throw error;
      const { id } = evaluation;
      if (!(error instanceof GatewayError)) {
        log.error({ evaluationId: id, err: error }, 'An evaluation failed unexpectedly.');
        return { status: 'FAILED', note: 'Something went wrong on our side.' };
      }
      return { status: 'FAILED', note: error.message.slice(0, MAX_ERROR_LENGTH).toWellFormed() };
    }
  };

  const end = (id: string, how: EvaluationEnd) =>
    persist(() => work.end(id, how), { log, what: `The end of the evaluation ${id}` });
  const release = (id: string) =>
    persist(() => work.release(id), { log, what: `The release of the evaluation ${id}` });

  return async (evaluation, stopped) => {
    const { id } = evaluation;
    const cancelled = new AbortController();
    const look = async () => {
      const { isOwned, isCancelled } = await work.state(id);
      if (!isOwned) cancelled.abort(LOST);
      else if (isCancelled) cancelled.abort(CANCELLED);
    };
    const signal = AbortSignal.any([stopped, cancelled.signal]);
    const options = {
      everyMs: LOOK_EVERY_MS,
      isImmediate: true,
      log,
      what: 'Look for a cancellation',
    };
    notify(id);
    {
      await using _looking = startPeriodic(look, options);
      try {
        await end(id, await endOf(evaluation, signal));
      } catch (error) {
        if (cancelled.signal.reason === CANCELLED) await end(id, { status: 'CANCELLED' });
        else if (stopped.aborted || isOutage(error)) await release(id);
        else if (error !== LOST && cancelled.signal.reason !== LOST) throw error;
      }
    }
    notify(id);
  };
}

/** Waits for the time of the next attempt of a worker. @param delayMs before the first one, so that workers take turns. */
function createPace(delayMs: number, signal: AbortSignal): () => Promise<void> {
  let next = performance.now() + delayMs;
  return async () => {
    const wait = next - performance.now();
    if (wait > 0) await setTimeout(wait, undefined, { signal });
    next = performance.now() + ATTEMPT_EVERY_MS;
  };
}
