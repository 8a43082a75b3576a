import type { Owner } from '../coordination/worker-lease.ts';
import { IS_EVALUATION_DUE } from '../deployments/evaluation-work.ts';
import { isDuplicate } from '../errors/outage.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { type Attempt, attempt, type Verdict, verdictOf } from './case-result.ts';

/** An evaluation that this process executes. */
export type TakenEvaluation = {
  id: string;
  botId: string;
  accountId: string;
  source: string;
  envVars: Uint8Array | null;
  model: string | null;
  judgeModel: string | null;
  repeat: number;
  /** Whether replayed runs get their recorded history and memory. */
  replaySession: boolean;
  /** How many processes have begun to execute it, this one included. */
  attempts: number;
};

/** A case with how many of its attempts have ended. A case without a run is the test with its name. */
export type OpenCase = { id: string; name: string; runId: string | null; finished: number };

/** How an evaluation ended. */
export type EvaluationEnd = { status: 'COMPLETED' | 'CANCELLED' | 'FAILED'; note?: string };

/** The queue of evaluations: one process at a time executes one, and one of an account runs at a time. */
export type Work = {
  /**
   * Takes the oldest evaluation that is due. If the answer of an earlier take was lost, takes that evaluation again.
   *
   * @param held the ids of the evaluations that this process executes.
   * @returns undefined if there is none.
   */
  take(held: string[]): Promise<TakenEvaluation | undefined>;
  /** The cases whose attempts have not all ended. */
  open(id: string): Promise<OpenCase[]>;
  /** Whether this process still owns an evaluation, and whether its cancellation is requested. */
  state(id: string): Promise<{ isOwned: boolean; isCancelled: boolean }>;
  /**
   * Stores an attempt at a case. Each attempt is stored once.
   *
   * @returns false if this process no longer owns the evaluation.
   */
  store(evaluation: TakenEvaluation, open: OpenCase, result: Attempt): Promise<boolean>;
  /** Ends an evaluation of this process. */
  end(id: string, end: EvaluationEnd): Promise<void>;
  /** Returns an evaluation, so that another process continues it. */
  release(id: string): Promise<void>;
};

/** How many processes may begin an evaluation: it may have stopped the others. */
export const MAX_ATTEMPTS = 3;

export function createWork({
  prisma,
  owner,
}: {
  prisma: PrismaClient;
  owner: Pick<Owner, 'id'>;
}): Work {
  /** Results of attempts that ended before, for the verdict of the case. */
  const earlier = async ({ id, finished }: OpenCase): Promise<Verdict[]> => {
    if (finished === 0) return [];
    const row = await prisma.evaluationCase.findUnique({
      where: { id },
      select: { attempts: true },
    });
    return attempt
      .array()
      .parse(row?.attempts ?? [])
      .map(({ verdict }) => verdict);
  };

  return {
    async take(held) {
      try {
        const [taken] = await prisma.$queryRaw<TakenEvaluation[]>`
          UPDATE evaluations SET status = 'RUNNING', owner_id = ${owner.id()}, attempts = attempts + 1,
            started_at = COALESCE(started_at, now())
          WHERE id IN (
            SELECT id FROM evaluations AS due
            WHERE ${IS_EVALUATION_DUE}
              OR (status = 'RUNNING' AND owner_id = ${owner.id()} AND NOT id = ANY(${held}::text[]))
            ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED
          )
          RETURNING id, bot_id AS "botId", account_id AS "accountId", source, env_vars AS "envVars", model,
            judge_model AS "judgeModel", repeat, replay_session AS "replaySession", attempts`;
        return taken;
      } catch (error) {
        // Another process has just begun another evaluation of the account.
        if (isDuplicate(error)) return undefined;
        throw error;
      }
    },

    open: (id) => prisma.$queryRaw<OpenCase[]>`
      SELECT id, name, run_id AS "runId", finished FROM evaluation_cases
      WHERE evaluation_id = ${id} AND verdict IS NULL ORDER BY position`,

    async state(id) {
      const [row] = await prisma.$queryRaw<{ isOwned: boolean; isCancelled: boolean }[]>`
        SELECT status = 'RUNNING' AND owner_id = ${owner.id()} AS "isOwned", cancel_requested AS "isCancelled"
        FROM evaluations WHERE id = ${id}`;
      return { isOwned: row?.isOwned === true, isCancelled: row?.isCancelled === true };
    },

    async store({ id, repeat }, open, result) {
      const isLast = open.finished + 1 >= repeat;
      const verdict = isLast ? verdictOf([...(await earlier(open)), result.verdict]) : null;
      const sum = (key: 'promptTokens' | 'completionTokens') =>
        result.turns.reduce((total, turn) => total + turn[key], result.comparison?.judge[key] ?? 0);
      const of = (one: Verdict) => (verdict === one ? 1 : 0);
      const stored = await prisma.$queryRaw<unknown[]>`
        WITH owned AS (
          SELECT id FROM evaluations WHERE id = ${id} AND status = 'RUNNING' AND owner_id = ${owner.id()} FOR UPDATE
        ), ended AS (
          UPDATE evaluation_cases SET finished = finished + 1, passed = passed + ${result.verdict === 'PASSED' ? 1 : 0}::int,
            verdict = ${verdict}::"EvaluationVerdict", attempts = attempts || ${JSON.stringify([result])}::jsonb
          FROM owned
          WHERE evaluation_cases.id = ${open.id} AND finished = ${open.finished}::int
          RETURNING evaluation_cases.id
        )
        UPDATE evaluations SET passed = passed + ${of('PASSED')}::int, failed = failed + ${of('FAILED')}::int,
          diverged = diverged + ${of('DIVERGED')}::int, skipped = skipped + ${of('SKIPPED')}::int,
          prompt_tokens = prompt_tokens + ${sum('promptTokens')}::int,
          completion_tokens = completion_tokens + ${sum('completionTokens')}::int
        FROM ended WHERE evaluations.id = ${id}
        RETURNING evaluations.id`;
      return stored.length > 0;
    },

    async end(id, { status, note }) {
      await prisma.evaluation.updateMany({
        where: { id, status: 'RUNNING', ownerId: owner.id() },
        data: {
          status,
          ...(note !== undefined && { note }),
          envVars: null,
          ownerId: null,
          finishedAt: new Date(),
        },
      });
    },

    async release(id) {
      await prisma.evaluation.updateMany({
        where: { id, status: 'RUNNING', ownerId: owner.id() },
        data: { ownerId: null, attempts: { decrement: 1 } },
      });
    },
  };
}
