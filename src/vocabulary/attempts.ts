import type { EVALUATION_VERDICTS } from './evaluations.ts';

type Verdict = keyof typeof EVALUATION_VERDICTS;

/** An expectation of a turn. One that was not met has a detail. */
type Expectation = {
  line: number;
  column: number;
  expectation: string;
  verdict: Verdict;
  detail?: string | null | undefined;
};

/** What an attempt found. An expectation that was not met has its place in the source. */
export type Finding = {
  text: string;
  expectation?: { line: number; column: number; verdict: Verdict };
};

/** The attempt that decides about a case: the first one that did not pass. */
export function decisiveAttempt<Attempt extends { verdict: Verdict }>(
  attempts: readonly Attempt[],
): Attempt | undefined {
  return attempts.find(({ verdict }) => verdict !== 'PASSED');
}

/** What an attempt that did not pass found: its error, then the expectations that were not met. */
export function findingsOf({
  error,
  turns,
}: {
  error?: string | null | undefined;
  turns: readonly { expectations: readonly Expectation[] }[];
}): Finding[] {
  const missed = turns
    .flatMap(({ expectations }) => expectations)
    .filter(({ verdict }) => verdict !== 'PASSED')
    .map(({ expectation, detail, line, column, verdict }) => ({
      text: detail == null ? expectation : `${expectation}. ${detail}`,
      expectation: { line, column, verdict },
    }));
  return error == null ? missed : [{ text: error }, ...missed];
}
