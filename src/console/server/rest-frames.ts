import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Step } from './call.ts';
import { type Problem, problemIn } from './problem.ts';

/** A frame of a reply or of the events of a run. Source: the API document, "Events". */
type Frame =
  | { event?: undefined; delta: string }
  | { event: 'run_started'; run_id: string; session_id: string | null }
  | { event: 'tool_started'; name: string; call_id: string }
  | { event: 'tool_finished'; call_id: string; failed: boolean; duration_ms: number }
  | { event: 'error'; error: { code: string; message: string; request_id: string } }
  | { event: 'done'; run_id: string; latency_ms: number; status?: 'failed' | 'cancelled' };

const ENDS = { failed: 'failed', cancelled: 'stopped' } as const;

/** A step of a reply, with the number of its frame if the stream numbers its frames. */
type NumberedStep = { id: string | undefined; step: Step };

/** Converts the frames of a REST stream. The last step of a whole stream has the type `ended`. */
export async function* stepsOfFrames(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<NumberedStep, void> {
  let problem: Problem | undefined;
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { id, data } of events) {
    const frame = JSON.parse(data) as Frame;
    switch (frame.event) {
      case undefined:
        yield { id, step: { type: 'text', text: frame.delta } };
        break;
      case 'run_started': {
        const { run_id: runId, session_id: sessionId } = frame;
        yield { id, step: { type: 'started', runId, sessionId: sessionId ?? undefined } };
        break;
      }
      case 'tool_started':
        yield { id, step: { type: 'tool-started', callId: frame.call_id, name: frame.name } };
        break;
      case 'tool_finished': {
        const { call_id: callId, failed, duration_ms: durationMs } = frame;
        yield { id, step: { type: 'tool-finished', callId, failed, durationMs } };
        break;
      }
      case 'error': {
        const { message, request_id: requestId } = frame.error;
        problem = { ...problemIn(frame.error, message), requestId };
        break;
      }
      case 'done': {
        const state = frame.status ? ENDS[frame.status] : 'done';
        yield { id, step: { type: 'ended', state, latencyMs: frame.latency_ms, problem } };
        return;
      }
    }
  }
}
