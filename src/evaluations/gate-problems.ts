import { type DeploymentDiagnostic, gateError } from '../deployments/diagnostics.ts';
import type { Gate } from '../deployments/gate.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { decisiveAttempt, findingsOf } from '../vocabulary/attempts.ts';
import { type Attempt, attempt, shortened } from './case-result.ts';

/**
 * Why an evaluation that has ended does not pass a gate, as errors of its deployment: one for each test that has not passed, and
 * one for each limit of the replay that is exceeded. None: it passes.
 */
export type GateProblems = (evaluationId: string, gate: Gate) => Promise<DeploymentDiagnostic[]>;

/** Characters of a reason in an error. */
const MAX_REASON = 200;

/** How many replayed runs have each verdict. `unjudged` ones were repeated, but no model compared the replies. */
type Counts = { cases: number; worse: number; diverged: number; skipped: number; unjudged: number };

export function createGateProblems({ prisma }: { prisma: PrismaClient }): GateProblems {
  const ofTests = async (evaluationId: string): Promise<DeploymentDiagnostic[]> => {
    const failed = await prisma.evaluationCase.findMany({
      where: { evaluationId, runId: null, OR: [{ verdict: null }, { verdict: { not: 'PASSED' } }] },
      orderBy: { position: 'asc' },
    });
    return failed.map(({ name, line, column, attempts }) => {
      const found = findingOf(attempt.array().parse(attempts));
      const reason = found?.reason ?? 'it was not run';
      const place = { line: found?.line ?? line, column: found?.column ?? column };
      const message = `the test ${JSON.stringify(shortened(name, 60))} failed: ${reason}`;
      return { ...gateError('test-failed', message), ...place, ...endOf(place) };
    });
  };

  const ofReplay = async (
    evaluationId: string,
    { maxWorse, maxDiverged }: NonNullable<Gate['replay']>,
  ): Promise<DeploymentDiagnostic[]> => {
    const [counts] = await prisma.$queryRaw<Counts[]>`
      SELECT count(*)::int AS cases, count(*) FILTER (WHERE verdict = 'FAILED')::int AS worse,
        count(*) FILTER (WHERE verdict = 'DIVERGED')::int AS diverged,
        count(*) FILTER (WHERE verdict = 'SKIPPED')::int AS skipped,
        count(*) FILTER (WHERE verdict = 'SKIPPED' AND jsonb_path_exists(attempts, '$[*].turns[*]'))::int AS unjudged
      FROM evaluation_cases WHERE evaluation_id = ${evaluationId} AND run_id IS NOT NULL`;
    if (!counts || counts.cases === 0) return [];
    const { cases, worse, diverged, skipped, unjudged } = counts;
    const of = (count: number) => `${count} of ${cases} replayed ${cases === 1 ? 'run' : 'runs'}`;
    const are = (count: number) => (count === 1 ? 'is' : 'are');
    const problem = (message: string) => gateError('replay-failed', message);
    return [
      ...(worse > maxWorse
        ? [problem(`${of(worse)} ${are(worse)} worse; at most ${maxWorse} may be`)]
        : []),
      ...(diverged > maxDiverged
        ? [problem(`${of(diverged)} made calls that were not recorded; at most ${maxDiverged} may`)]
        : []),
      ...(unjudged > 0
        ? [problem(`${of(unjudged)} could not be compared, because no model judged the replies`)]
        : []),
      ...(skipped === cases && unjudged === 0
        ? [
            problem(
              `none of ${cases} recorded runs could be repeated: what they sent is not stored`,
            ),
          ]
        : []),
    ];
  };

  return async (evaluationId, gate) => {
    const where = { id: evaluationId };
    const select = { status: true, note: true };
    const evaluation = await prisma.evaluation.findUnique({ where, select });
    if (evaluation?.status !== 'COMPLETED') {
      const reason = evaluation?.note ? `: ${sentence(evaluation.note)}` : '';
      const what = evaluation?.status === 'CANCELLED' ? 'was cancelled' : 'could not be executed';
      return [gateError('gate-failed', `the evaluation of the gate ${what}${reason}`)];
    }
    return [
      ...(gate.tests ? await ofTests(evaluationId) : []),
      ...(gate.replay ? await ofReplay(evaluationId, gate.replay) : []),
    ];
  };
}

/** The first thing that an attempt found, with its place in the source. */
function findingOf(
  attempts: Attempt[],
): { reason: string; line?: number; column?: number } | undefined {
  const failed = decisiveAttempt(attempts);
  const [found] = failed ? findingsOf(failed) : [];
  if (!found) return undefined;
  const { text, expectation } = found;
  if (!expectation) return { reason: sentence(text) };
  const { line, column, verdict } = expectation;
  const start = verdict === 'SKIPPED' ? 'it could not check' : 'expected';
  return { reason: sentence(`${start} ${text}`), line, column };
}

/** A text on one line, without a period at its end. */
function sentence(text: string): string {
  return shortened(text.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, ''), MAX_REASON);
}

function endOf({ line, column }: { line: number; column: number }) {
  return { endLine: line, endColumn: column };
}
