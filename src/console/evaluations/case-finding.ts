import type { CaseAttemptFragment } from '../../generated/operations/console.ts';
import { decisiveAttempt, type Finding, findingsOf } from '../../vocabulary/attempts.ts';

/** What a case that did not pass says first, with its place in the definition. */
export function firstFindingOf(result: {
  line: number;
  column: number;
  attempts: readonly CaseAttemptFragment[];
}): { line: number; column: number; message: string } | undefined {
  const attempt = decisiveAttempt(result.attempts);
  if (!attempt) return undefined;
  const [first] = findingsOf(attempt);
  const message = first ? messageOf(first) : attempt.comparison?.reason;
  if (message == null) return undefined;
  const { line, column } = first?.expectation ?? result;
  return { line, column, message };
}

function messageOf({ text, expectation }: Finding): string {
  if (!expectation) return text;
  return `${expectation.verdict === 'SKIPPED' ? 'Skipped' : 'Expected'} ${text}`;
}
