import type { Step } from './call.ts';
import type { ChatEvent } from './stream-chat.ts';

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
