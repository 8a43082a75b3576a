import { StopRun } from '../../generated/operations/console.ts';
import type { Call } from './call.ts';
import type { ChatEvent } from './chat-event.ts';
import type { Reading } from './event-request.ts';
import { mutate } from './operations.ts';
import type { Problem } from './problem.ts';
import { sendByRest } from './rest-chat.ts';
import { restKeyFor } from './rest-key.ts';
import { cancelByRest } from './rest-run.ts';
import { streamChat } from './stream-chat.ts';
import { askWhole } from './whole-chat.ts';

/** A message on its way. */
export type Sending = {
  /** The events of the reply. @throws ChatProblem */
  events: AsyncGenerator<ChatEvent, void>;
  /** Cancels the run, with the key that started it. @returns the problem if that failed. */
  cancel(runId: string): Promise<Problem | undefined>;
};

/** Sends a message by the protocol of its call, once its events are read. */
export function send(call: Call, reading: Reading): Sending {
  const { botId, message, sessionId, environment, context, onBusy, idempotencyKey } = call;
  if (call.protocol === 'rest') {
    const secret = restKeyFor(botId)?.secret;
    return {
      events: sendByRest(call, secret, reading),
      cancel: async (runId) => (secret ? cancelByRest({ botId, runId, secret }) : undefined),
    };
  }
  const toolChoice = call.withoutTools ? ('NONE' as const) : undefined;
  const input = { message, sessionId, environment, context, onBusy, idempotencyKey, toolChoice };
  return {
    events: call.isStreamed
      ? streamChat({ botId, input, ...call.draft }, reading)
      : askWhole({ botId, input }, reading),
    cancel: async (runId) => (await mutate(StopRun, { id: runId })).problem,
  };
}
