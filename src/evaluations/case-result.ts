import { hash } from 'node:crypto';
import { z } from 'zod';
import { CALL_CHANGES, EVALUATION_VERDICTS, REPLY_OUTCOMES } from '../vocabulary/evaluations.ts';
import { valuesOf } from '../vocabulary/names.ts';

/** The result of an expectation, of an attempt at a case, or of a case. */
export type Verdict = keyof typeof EVALUATION_VERDICTS;

const verdict = z.enum(valuesOf(EVALUATION_VERDICTS));

const call = z.object({
  /** `<group>.<capability>` */
  name: z.string(),
  /** The text of a JSON object, from `shortenedArguments`. */
  arguments: z.string(),
  result: z.string(),
  failed: z.boolean(),
});

const checked = z.object({
  line: z.number(),
  column: z.number(),
  /** As the source writes it, without `expect`. */
  expectation: z.string(),
  verdict,
  /** The actual value, or why the expectation was skipped. Absent if it passed. */
  detail: z.string().optional(),
});

const tokens = { promptTokens: z.number(), completionTokens: z.number() };

const turn = z.object({
  message: z.string(),
  reply: z.string(),
  calls: z.array(call),
  expectations: z.array(checked),
  ...tokens,
  latencyMs: z.number(),
});

const callChange = z.object({
  change: z.enum(valuesOf(CALL_CHANGES)),
  name: z.string(),
  /** From `shortenedArguments`. Absent for a missing call. */
  arguments: z.string().optional(),
  /** From `shortenedArguments`. Absent for an added call. */
  recordedArguments: z.string().optional(),
});

/** A replay beside its recorded run. */
const comparison = z.object({
  /** Absent if the replies were not compared. */
  outcome: z.enum(valuesOf(REPLY_OUTCOMES)).optional(),
  /** The sentence of the model that judged, or why nothing was judged. */
  reason: z.string().optional(),
  /** The letter that the model knew the new reply by. It does not know which reply is the new one. */
  newReply: z.enum(['A', 'B']).optional(),
  callChanges: z.array(callChange),
  recorded: z.object({
    reply: z.string(),
    /** Why the recorded run failed. */
    error: z.string().optional(),
    calls: z.array(call),
    ...tokens,
    /** Without the time of tool calls. */
    latencyMs: z.number(),
  }),
  feedback: z.array(z.object({ rating: z.enum(['UP', 'DOWN']), note: z.string().optional() })),
  /** The tokens of the model that judged. */
  judge: z.object(tokens),
});

/** One execution of a case, as it is stored. */
export const attempt = z.object({
  verdict,
  /** Why the conversation ended early, which call was not recorded, or why a run was not repeated. */
  error: z.string().optional(),
  turns: z.array(turn),
  /** Only of a replay. */
  comparison: comparison.optional(),
});

export type Call = z.infer<typeof call>;
/** A call with its whole texts, and a digest from `digestOf`, which is equal for equal calls. */
export type MadeCall = Call & { digest: string };
export type Checked = z.infer<typeof checked>;
export type Turn = z.infer<typeof turn>;
export type CallChange = z.infer<typeof callChange>;
export type Comparison = z.infer<typeof comparison>;
export type Outcome = NonNullable<Comparison['outcome']>;
export type Attempt = z.infer<typeof attempt>;

/** Characters of a text in a result. */
export const MAX_TEXT = 16 * 1024;

export function shortened(text: string, length = MAX_TEXT): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`.toWellFormed();
}

/**
 * The arguments of a call, which is the text of a JSON object. A longer text ends with its length and the start of its
 * SHA-256, so that different texts stay different. It is no JSON then.
 */
export function shortenedArguments(text: string, length = MAX_TEXT): string {
  if (text.length <= length) return text;
  const sum = hash('sha256', text).slice(0, 12);
  return `${shortened(text, length)} [${text.length} characters, SHA-256 ${sum}]`;
}

/** A call as a result stores it. @param length characters of its arguments and of its result. */
export function storedCall(
  { name, arguments: text, result, failed }: Call,
  length = MAX_TEXT,
): Call {
  return {
    name,
    arguments: shortenedArguments(text, length),
    result: shortened(result, length),
    failed,
  };
}

/** The verdict of several together: one failure fails all, and what was skipped is not passed. */
export function verdictOf(parts: readonly Verdict[]): Verdict {
  const order = ['FAILED', 'DIVERGED', 'SKIPPED'] as const;
  return order.find((one) => parts.includes(one)) ?? 'PASSED';
}
