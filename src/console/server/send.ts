import type { Call, Step } from './call.ts';
import { sendByRest } from './rest-chat.ts';
import { type ChatEvent, followRun, type Reading, streamChat } from './stream-chat.ts';
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
    for await (const event of streamChat({ botId, input }, reading)) yield stepOf(event);
  } else {
    yield* askWhole({ botId, input }, reading);
  }
}

/** Converts an event of a run. */
export function stepOf(event: ChatEvent): Step {
  switch (event.__typename) {
    case 'RunStarted':
      return { type: 'started', runId: event.runId };
    case 'TextDelta':
      return { type: 'text', text: event.delta };
    case 'ToolStarted':
      return { type: 'tool-started', callId: event.callId, name: event.name };
    case 'ToolFinished': {
      const { callId, failed, durationMs } = event;
      return { type: 'tool-finished', callId, failed, durationMs };
    }
    case 'ChatDone':
      return { type: 'ended', state: 'done', latencyMs: event.latencyMs, tokens: event.tokensUsed };
    case 'ChatCancelled':
      return {
        type: 'ended',
        state: 'stopped',
        latencyMs: event.latencyMs,
        tokens: event.tokensUsed,
      };
    case 'ChatFailed': {
      const problem = { code: event.code, message: event.message, details: [] };
      return { type: 'ended', state: 'failed', latencyMs: event.latencyMs, problem };
    }
  }
}
