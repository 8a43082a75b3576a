import type { EVALUATION_VERDICTS } from './evaluations.ts';

type Verdict = keyof typeof EVALUATION_VERDICTS;
type Tokens = { promptTokens: number; completionTokens: number };

/**
 * A tool call of a turn, which a test or a record answered. Arguments are the text of a JSON object. A text that is cut ends
 * with its length, and is no JSON.
 */
export type AttemptCall = { name: string; arguments: string; result: string; failed: boolean };

/** An expectation of a turn. One that was not met has a detail. */
export type Expectation = {
  line: number;
  column: number;
  expectation: string;
  verdict: Verdict;
  detail?: string | undefined;
};

export type AttemptTurn = Tokens & {
  message: string;
  reply: string;
  calls: AttemptCall[];
  expectations: Expectation[];
  latencyMs: number;
};

/** How a call of a replay differs from the recorded ones. */
export type CallChange = {
  change: 'ADDED' | 'MISSING' | 'CHANGED';
  name: string;
  arguments?: string | undefined;
  recordedArguments?: string | undefined;
};

/** A replay beside its recorded run. */
export type Comparison = {
  /** Absent if the replies were not compared. */
  outcome?: 'EQUAL' | 'BETTER' | 'SAME' | 'WORSE' | undefined;
  /** The sentence of the model that judged, or why nothing was judged. */
  reason?: string | undefined;
  /** The letter that the model knew the new reply by. */
  newReply?: 'A' | 'B' | undefined;
  callChanges: CallChange[];
  recorded: Tokens & { reply: string; error?: string | undefined; latencyMs: number };
  feedback: { rating: 'UP' | 'DOWN'; note?: string | undefined }[];
};

/** One execution of a case of an evaluation. The replay of a recorded run has a comparison. */
export type Attempt = {
  verdict: Verdict;
  /** Why the conversation ended early. */
  error?: string | undefined;
  turns: AttemptTurn[];
  comparison?: Comparison | undefined;
};

/** The attempts at a case, as the server returns them. */
export function attemptsOf({ attempts }: { attempts: readonly unknown[] }): Attempt[] {
  return attempts.filter(
    (one): one is Attempt => typeof one === 'object' && one !== null && 'turns' in one,
  );
}

/** What an attempt found. An expectation that was not met has its place in the source. */
export type Finding = {
  text: string;
  expectation?: { line: number; column: number; verdict: Verdict };
};

/** The attempt that decides about a case: the first one that did not pass. */
export function decisiveAttempt(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find(({ verdict }) => verdict !== 'PASSED');
}

/** What an attempt that did not pass found: its error, then the expectations that were not met. */
export function findingsOf({ error, turns }: Attempt): Finding[] {
  const missed = turns
    .flatMap(({ expectations }) => expectations)
    .filter(({ verdict }) => verdict !== 'PASSED')
    .map(({ expectation, detail, line, column, verdict }) => ({
      text: detail === undefined ? expectation : `${expectation}. ${detail}`,
      expectation: { line, column, verdict },
    }));
  return error === undefined ? missed : [{ text: error }, ...missed];
}
