import type {
  EvaluationResultsQuery,
  RunComparisonFragment,
} from '../../generated/operations/command.ts';
import { decisiveAttempt, findingsOf as findingsIn } from '../../vocabulary/attempts.ts';
import type { Style } from '../terminal/style.ts';
import { cut, oneLine } from '../terminal/text-table.ts';

export type Evaluation = NonNullable<EvaluationResultsQuery['evaluation']>;
export type CaseResult = Evaluation['results'][number];

/** What a case found, in one sentence. A finding of a test has its place in the file. */
export type CaseFinding = { place?: { line: number; column: number }; text: string };

/** What the attempts at a case found: the first attempt that did not pass decides. */
export function findingsOf({ attempts, line, column, runId }: CaseResult): CaseFinding[] {
  const attempt = decisiveAttempt(attempts);
  if (!attempt) return [];
  const found = findingsIn(attempt).map(({ text, expectation }): CaseFinding => {
    if (!expectation) return { ...(runId === null && { place: { line, column } }), text };
    const { verdict, ...place } = expectation;
    return { place, text: `${verdict === 'SKIPPED' ? 'skipped' : 'expected'} ${text}` };
  });
  return [...found, ...(attempt.comparison ? differencesIn(attempt.comparison) : [])];
}

/** How a replay differs from its recorded run. */
function differencesIn({
  outcome,
  reason,
  newReply,
  callChanges,
}: RunComparisonFragment): CaseFinding[] {
  const start = outcome?.toLowerCase() ?? 'not compared';
  const letter = newReply === null ? '' : ` (the new reply is ${newReply})`;
  const judged = reason === null ? [] : [{ text: `${start}: ${reason}${letter}` }];
  const changes = callChanges.map(({ change, name, arguments: made, recordedArguments }) => ({
    text: `call ${change.toLowerCase()}: ${name} ${made ?? recordedArguments ?? ''}`,
  }));
  return [...judged, ...changes];
}

/** Columns of the message of a recorded run. */
const MESSAGE_WIDTH = 60;

/** The title of a case: the name of a test, or the message and the ID of a recorded run. */
export function titleOf({ name, runId, attempts }: CaseResult): string {
  const message = attempts[0]?.turns[0]?.message;
  if (runId === null || message === undefined) return oneLine(name);
  return `${cut(oneLine(message), MESSAGE_WIDTH)} (${runId})`;
}

/** A finding on one line, behind its place in the file. */
export function findingLine(file: string, { place, text }: CaseFinding, style?: Style): string {
  if (!place) return oneLine(text);
  const where = `${file}:${place.line}:${place.column}`;
  return `${style ? style.dim(where) : where} ${oneLine(text)}`;
}

/** A line for a case that has ended, and one for each finding. */
export function lineOf(file: string, result: CaseResult, repeat: number, style: Style): string {
  const marks = {
    PASSED: style.green('✓'),
    FAILED: style.red('✗'),
    DIVERGED: style.red('≠'),
    SKIPPED: style.yellow('-'),
  };
  const { verdict, passedAttempts } = result;
  const mark = verdict ? marks[verdict] : ' ';
  const share = repeat > 1 ? ` (${passedAttempts} of ${repeat})` : '';
  const findings = findingsOf(result).map((one) => `  ${findingLine(file, one, style)}`);
  return [`${mark} ${titleOf(result)}${share}`, ...findings].join('\n');
}

/** How many cases have each verdict, on one line. */
export function countsOf({ passed, failed, diverged, skipped }: Evaluation): string {
  return [
    `${passed} passed`,
    `${failed + diverged} failed`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(', ');
}
