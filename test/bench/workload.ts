/** What every server of the benchmark is asked, and what it has stored before: the same for all of them. */

/** How a caller wants the reply: whole, or delta by delta. */
export const MODES = ['json', 'streamed'] as const;
export type Mode = (typeof MODES)[number];

export const MODEL = 'bench';
export const PROMPT = 'You are the bot of a benchmark. Answer in one sentence.';
export const MESSAGE = 'How many chats does a gateway answer in a second?';
export const ANSWER =
  'As many as its processor, its database and the model behind it let it, and not a single one more.';

/** The answer as the model sends it: 20 pieces of a few characters. */
export const DELTAS = ANSWER.split(/(?<= )/);

/** How many of a session's latest messages go to the model, where messages are stored. */
export const HISTORY = 20;

/**
 * How many conversations there are, each with `HISTORY` messages at the start. They are dealt out among the
 * connections, so that no turn waits for another of its session.
 */
export const SESSIONS = 128;

export const sessionId = (number: number) => `session-${number}`;
