import { StopRun } from '../../generated/operations/console.ts';
import type { ChatEnd, ChatEvent } from '../server/chat-event.ts';
import { ChatProblem } from '../server/chat-problem.ts';
import type { Reading } from '../server/event-request.ts';
import type { Problem } from '../server/problem.ts';
import { followRun, streamChat } from '../server/stream-chat.ts';
import { embedding } from './embedding.ts';
import type { OpenMessage } from './stored-conversation.ts';
import type { Visit } from './visit.ts';

/** A message that was sent. */
export type Sent = {
  /** The id of its turn, and its idempotency key. */
  id: string;
  message: string;
  /** The run for which the page around the widget already has the message. */
  announced?: string | undefined;
};

/** A reply that this tab reads. */
export type Reply = Sent & {
  events: AsyncGenerator<ChatEvent, void>;
  /** Absent until the run begins. */
  runId?: string | undefined;
  aborter: AbortController;
  /** Whether a request has left this tab. */
  isSent: boolean;
};

/** Sends a message. If an earlier request with its id has begun a run, the reply belongs to this run. */
export function sendMessage(visit: Visit, bot: string, sent: Sent): Reply {
  return openReply(visit, sent, (reading) => chat(bot, sent, reading));
}

/** Reads the reply of a message whose run has begun. */
export function followMessage(visit: Visit, { id, message, runId }: OpenMessage): Reply {
  const sent = { id, message, announced: runId };
  return { ...openReply(visit, sent, (reading) => followRun(runId, reading)), runId };
}

/** Time limit to find the run of a message whose request was aborted. */
const FIND_LIMIT_MS = 30_000;

/**
 * Cancels the run of a reply. Before the page knows the run, aborts the reply: a message that waits for its turn goes with
 * its request, and the idempotency key finds a run that has begun.
 *
 * @returns the run's id; `undefined` if none has begun.
 * @throws ChatProblem
 */
export async function cancelReply(
  visit: Visit,
  bot: string,
  { runId, aborter, isSent, ...sent }: Reply,
): Promise<string | undefined> {
  if (runId !== undefined) return cancelRun(visit, runId);
  aborter.abort();
  if (!isSent) return undefined;
  const signal = AbortSignal.timeout(FIND_LIMIT_MS);
  try {
    const reading = { signal, access: visit };
    for await (const event of chat(bot, sent, reading, { replayOnly: true }))
      if (event.type === 'run_started') return await cancelRun(visit, event.runId);
  } catch (error) {
    if (!(error instanceof ChatProblem && error.problem.code === 'RUN_NOT_FOUND')) throw error;
  }
  return undefined;
}

async function cancelRun(visit: Visit, id: string): Promise<string> {
  await visit.ask(StopRun, { id });
  return id;
}

function openReply(
  access: Visit,
  sent: Sent,
  read: (reading: Reading) => AsyncGenerator<ChatEvent, void>,
): Reply {
  const aborter = new AbortController();
  const reply = { ...sent, aborter, isSent: false };
  const send: typeof fetch = (...request) => {
    reply.isSent = true;
    return fetch(...request);
  };
  return Object.assign(reply, { events: read({ signal: aborter.signal, fetch: send, access }) });
}

function chat(
  botId: string,
  { id, message }: Sent,
  reading: Reading,
  options: { replayOnly?: true } = {},
): AsyncGenerator<ChatEvent, void> {
  return streamChat({ botId, input: { message, idempotencyKey: id, ...options } }, reading);
}

/**
 * Reads a reply to its end, or until it is aborted. Keeps its run while it is open, and tells the page around the widget
 * both messages. A reply that fails is no message.
 *
 * @returns the problem of a reply that cannot be read.
 */
export async function readReply(
  reply: Reply,
  { kept }: Visit,
  onEvent: (event: ChatEvent) => void,
): Promise<Problem | undefined> {
  const { id, message, announced, events } = reply;
  const { signal } = reply.aborter;
  let text = '';
  let problem: Problem | undefined;
  try {
    for await (const event of events) {
      // The turn of an aborted reply has ended.
      if (signal.aborted) break;
      if (event.type === 'run_started') {
        const { runId, at = null } = event;
        text = '';
        kept.begin({ id, message, runId, at });
        reply.runId = runId;
        if (runId !== announced) announce('user', message, runId);
      } else if (event.type === 'text') text += event.delta;
      else if (event.type === 'done' && isMessage(event, text))
        announce('assistant', text, event.runId);
      onEvent(event);
    }
  } catch (error) {
    if (!(error instanceof ChatProblem)) throw error;
    ({ problem } = error);
  }
  // A page that closes keeps the run, to follow it when it opens again.
  if (signal.aborted) return undefined;
  if (reply.runId !== undefined) kept.end(reply.runId);
  return problem;
}

/** Whether a run ends with a message: whole, or what it said before it was stopped. */
function isMessage({ status }: ChatEnd, text: string): boolean {
  return status === undefined || (status === 'cancelled' && text !== '');
}

function announce(role: 'user' | 'assistant', text: string, runId: string): void {
  embedding.send({ type: 'message', role, text, runId });
}
