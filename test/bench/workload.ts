/** The requests and the stored data of the benchmark, equal for all servers. */

/** The mode of a reply: whole, or delta by delta. */
export const MODES = ['json', 'streamed'] as const;
export type Mode = (typeof MODES)[number];

export const MODEL = 'bench';
export const PROMPT = 'You are the bot of a benchmark. Answer in one sentence.';
export const MESSAGE = 'How many chats does a gateway answer in a second?';
export const ANSWER =
  'As many as its processor, its database and the model behind it let it, and not a single one more.';

/** The reply in 20 pieces of a few characters, as the model streams it. */
export const DELTAS = ANSWER.split(/(?<= )/);

/** The number of a session's latest messages that are sent to the model, if messages are stored. */
export const HISTORY = 20;

/**
 * The number of sessions, each with `HISTORY` messages at the start. They are distributed among the connections, so that
 * no turn waits for another of its session.
 */
export const SESSIONS = 128;

export const sessionId = (number: number) => `session-${number}`;
