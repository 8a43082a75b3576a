import type { Step } from './call.ts';
import { type Recording, requestIdIn } from './recording.ts';
import type { ChatEvent } from './stream-chat.ts';

/** Converts an event of a run. @param recording the requests that read it, for the request id of a failure. */
export function stepOf(event: ChatEvent, recording?: Recording): Step {
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
      const { code, message, latencyMs } = event;
      const requestId = recording && requestIdIn(recording);
      const problem = { code, message, details: [], requestId };
      return { type: 'ended', state: 'failed', latencyMs, problem };
    }
  }
}
