import type { ErrorCode } from '../errors.ts';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';

/** What a run begins with. */
export type NewRun = Pick<
  Prisma.RunUncheckedCreateInput,
  | 'botId'
  | 'deploymentId'
  | 'environment'
  | 'kind'
  | 'channel'
  | 'sessionId'
  | 'input'
  | 'context'
  | 'model'
>;

/** How a run ended. */
export type RunOutcome = {
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** What was said, whole or in part. */
  response: string;
  error?: { code: ErrorCode; message: string };
  latencyMs: number;
  promptTokens: number;
  completionTokens: number;
  /** Whether the counts are an estimate. */
  tokensEstimated: boolean;
  /** In call order, without repeats. */
  toolsCalled: string[];
};

/** The life of runs: written before the work begins, and again when it has ended. */
export type Runs = {
  begin(run: NewRun): Promise<string>;
  /**
   * Stores a run's end together with what it leaves elsewhere, all or nothing.
   *
   * @throws an error when the run or its session is gone, or the session has taken another turn since.
   */
  end(runId: string, outcome: RunOutcome, also?: Prisma.PrismaPromise<unknown>[]): Promise<void>;
};

export function createRuns({ prisma }: { prisma: PrismaClient }): Runs {
  return {
    async begin(run) {
      const id = makeId('run');
      await prisma.run.create({
        data: { ...run, id, status: 'RUNNING', startedAt: new Date() },
        select: { id: true },
      });
      return id;
    },

    async end(runId, { error, ...outcome }, also = []) {
      await prisma.$transaction([
        prisma.run.update({
          where: { id: runId, status: 'RUNNING' },
          data: {
            ...outcome,
            errorCode: error?.code,
            errorMessage: error?.message,
            finishedAt: new Date(),
          },
          select: { id: true },
        }),
        ...also,
      ]);
    },
  };
}
