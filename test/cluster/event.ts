import type { Scope } from './programs.ts';
import type { Installation } from './replicas.ts';
import type { Figures } from './traffic.ts';

/** What happened to an installation. */
export type Event = {
  name: string;
  /** Absent for an event without traffic. */
  figures?: Figures;
  /** What was seen, for the table. */
  seen?: string;
  /** What is not as promised. */
  problems: string[];
};

/** Plays events one after the other, on the same programs. @throws Error if a program does not do what the events need. */
export type Play = (installation: Installation, scope: Scope) => AsyncGenerator<Event>;

/** The longest time from the end of an event to the next answer. Source: the specification of switch-overs. */
const BACK_WITHIN_MS = 5_000;
/** A request waits for the database for 7 seconds, and began up to a second before its first refused statement. */
const REQUEST_WAITS_MS = 6_000;

/**
 * Judges what clients saw.
 *
 * @param allowed how many chats may fail and be lost, none by default, and when the first answer must come. On a busy machine an event may take longer than a
 * request waits. Then chats may fail with the error that asks to come back.
 */
export function judge(
  name: string,
  figures: Figures,
  {
    failed = 0,
    lost = 0,
    backWithinMs = BACK_WITHIN_MS,
  }: { failed?: number; lost?: number; backWithinMs?: number } = {},
): Event {
  const { errors, lost: lostAnswers, stuck, gapMs, awayMs } = figures;
  const problems: string[] = [];
  const isLong = awayMs > REQUEST_WAITS_MS;
  const wrong = isLong ? errors.filter((error) => !/^500 .*in a few seconds/.test(error)) : errors;
  if (wrong.length > failed)
    problems.push(`${wrong.length} chats failed: ${wrong.slice(0, 3).join('; ')}`);
  if (lostAnswers > lost) problems.push(`${lostAnswers} answered chats are lost`);
  if (stuck > 0) problems.push(`${stuck} runs or turns are stuck`);
  if (gapMs > awayMs + backWithinMs)
    problems.push(`the first answer came ${Math.round(gapMs - awayMs)} ms after the event`);
  return { name, figures, problems };
}
