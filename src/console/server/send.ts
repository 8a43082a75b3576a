import type { Call, Step } from './call.ts';
import { stepOf } from './chat-step.ts';
import { sendByRest } from './rest-chat.ts';
import { followRun, type Reading, streamChat } from './stream-chat.ts';
import { askWhole } from './whole-chat.ts';

/**
 * Sends a message by the protocol of its call, and reads the reply. A REST stream that is cut is read to its end by the
 * events of its run.
 *
 * @throws ChatProblem
 */
export async function* send(call: Call, reading: Reading): AsyncGenerator<Step, void> {
  const { botId, message, sessionId, environment, context, onBusy, idempotencyKey } = call;
  const input = { message, sessionId, environment, context, onBusy, idempotencyKey };
  if (call.protocol === 'rest') {
    const unfinished = yield* sendByRest(call, reading);
    if (!unfinished) return;
    for await (const event of followRun(unfinished.runId, reading)) yield stepOf(event);
  } else if (call.isStreamed) {
    for await (const event of streamChat({ botId, input, ...call.draft }, reading))
      yield stepOf(event);
  } else {
    yield* askWhole({ botId, input }, reading);
  }
}
