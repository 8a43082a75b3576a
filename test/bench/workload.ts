/** The requests of the benchmark, equal for all servers. */

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
export const USAGE = { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 };

/** The number of a session's latest messages that are sent to the model, if messages are stored. */
export const HISTORY = 20;
/** A session's last turn. The next message begins another session. */
export const TURNS = 10;
/** A message has one to so many sentences. */
const MAX_SENTENCES = 4;

/** A message to a session. */
export type Chat = { sessionId: string; message: string };

export const sessionId = (number: number) => `session-${number}`;

let sessions = 0;
let messages = 0;

/** One user after another: each has a session of its own for ten turns. No two messages are equal. */
export function createConversation(): () => Chat {
  let turns = 0;
  let session = '';
  return () => {
    if (turns % TURNS === 0) session = sessionId(sessions++);
    turns += 1;
    messages += 1;
    const sentences = Array(1 + (messages % MAX_SENTENCES)).fill(MESSAGE);
    return { sessionId: session, message: `Question ${messages}. ${sentences.join(' ')}` };
  };
}
