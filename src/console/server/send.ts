import { StopRun } from '../../generated/operations/console.ts';
import type { Call, Step } from './call.ts';
import { stepOf } from './chat-step.ts';
import { mutate } from './operations.ts';
import type { Problem } from './problem.ts';
import { sendByRest } from './rest-chat.ts';
import { restKeyFor } from './rest-key.ts';
import { cancelByRest } from './rest-run.ts';
import { type Reading, streamChat } from './stream-chat.ts';
import { askWhole } from './whole-chat.ts';

/** A message on its way. */
export type Sending = {
  /** The steps of the reply. @throws ChatProblem */
  steps: AsyncGenerator<Step, void>;
  /** Cancels the run, with the key that started it. @returns the problem if that failed. */
  cancel(runId: string): Promise<Problem | undefined>;
};

/** Sends a message by the protocol of its call, once its steps are read. */
export function send(call: Call, reading: Reading): Sending {
  const { botId, message, sessionId, environment, context, onBusy, idempotencyKey } = call;
  if (call.protocol === 'rest') {
    const secret = restKeyFor(botId)?.secret;
    return {
      steps: sendByRest(call, secret, reading),
      cancel: async (runId) => (secret ? cancelByRest({ botId, runId, secret }) : undefined),
    };
  }
  const input = { message, sessionId, environment, context, onBusy, idempotencyKey };
  return {
    steps: call.isStreamed
      ? stepsOfStream(streamChat({ botId, input, ...call.draft }, reading), reading)
      : askWhole({ botId, input }, reading),
    cancel: async (runId) => (await mutate(StopRun, { id: runId })).problem,
  };
}

async function* stepsOfStream(
  events: ReturnType<typeof streamChat>,
  { recording }: Reading,
): AsyncGenerator<Step, void> {
  for await (const event of events) yield stepOf(event, recording);
}
