import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { isJsonObject, sortMembers } from '../text/json.ts';

/** The most replayed runs of a gate. */
export const MAX_GATE_RUNS = 500;

const rating = z.enum(['UP', 'DOWN']);

const gate = z.object({
  /** Whether all tests of the definition must pass. */
  tests: z.boolean(),
  /** The newest runs in production that are repeated with the definition. Null: none. */
  replay: z
    .object({
      last: z.int().min(1).max(MAX_GATE_RUNS),
      /** Only runs that have at least one such rating. */
      feedback: rating.optional(),
      /** How many of the runs may be worse than the recorded ones. */
      maxWorse: z.int().min(0).max(MAX_GATE_RUNS),
      /** How many of the runs may make a call that was not recorded. */
      maxDiverged: z.int().min(0).max(MAX_GATE_RUNS),
    })
    .nullable(),
  /** How often each case is executed. */
  repeat: z.int().min(1).max(10),
});

/** What a definition must pass before it becomes active in production. */
export type Gate = z.infer<typeof gate>;

/** Reads a stored gate. */
export function readGate(stored: Prisma.JsonValue): Gate | null {
  return gate.nullable().parse(stored);
}

/** What an evaluation depends on, besides the source. */
export type EvaluationBasis = {
  environment: 'STAGING' | 'PRODUCTION';
  /** From `EnvironmentCipher.fingerprint`. */
  variables: string;
  model: string | null;
  judgeModel: string | null;
  /** All tests, none, or those with these names. */
  tests: boolean | readonly string[];
  /** The selection of recorded runs. */
  replay: object | null;
  repeat: number;
};

/** Identifies the basis of an evaluation: equal for evaluations that answer the same question about a source. */
export function basisOf(basis: EvaluationBasis): string {
  const { environment, variables, model, judgeModel, tests, replay, repeat } = basis;
  const parts = [environment, variables, model, tests, replay, repeat];
  // Only if it is set: a basis that was stored before evaluations had a judge model stays equal.
  if (judgeModel !== null) parts.push(judgeModel);
  return hash('sha256', JSON.stringify(parts, inOrder));
}

/** Sorts the members of objects, and leaves out null members. */
function inOrder(name: string, value: unknown): unknown {
  const sorted = sortMembers(name, value);
  if (!isJsonObject(sorted)) return sorted;
  return Object.fromEntries(Object.entries(sorted).filter(([, member]) => member != null));
}

/** Whether a deployment waits for its gate. */
export function waitsForGate({
  gate: waiting,
  status,
}: {
  gate: Prisma.JsonValue;
  status: string;
}): boolean {
  return waiting !== null && status === 'PENDING';
}

/** The basis of the evaluation that a gate asks for. */
export function basisOfGate({ tests, replay, repeat }: Gate, variables: string): string {
  return basisOf({
    environment: 'PRODUCTION',
    variables,
    model: null,
    judgeModel: null,
    tests,
    replay: replay && { ...replayOfGate(replay), session: true },
    repeat,
  });
}

/** The recorded runs that a gate repeats. */
export function replayOfGate({ last, feedback }: NonNullable<Gate['replay']>) {
  return { filter: { environment: 'PRODUCTION' as const, feedback }, last };
}

/** How long an evaluation counts for a gate, in milliseconds. */
const COUNTS_FOR_MS = 24 * 60 * 60 * 1_000;

/** Finds the newest completed evaluation that answers what a gate asks about a source. */
export function findAnswer(
  prisma: Pick<PrismaClient, 'evaluation'>,
  { botId, source }: { botId: string; source: string },
  basis: string,
): Promise<{ id: string; failed: number } | null> {
  return prisma.evaluation.findFirst({
    where: {
      botId,
      sourceHash: hashOf(source),
      basis,
      status: 'COMPLETED',
      finishedAt: { gt: new Date(Date.now() - COUNTS_FOR_MS) },
    },
    orderBy: { finishedAt: 'desc' },
    select: { id: true, failed: true },
  });
}

/** SHA-256 of a source, in hexadecimal digits. */
export function hashOf(source: string): string {
  return hash('sha256', source);
}
