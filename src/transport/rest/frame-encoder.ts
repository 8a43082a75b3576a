import type {
  LoggedEventFragment,
  StreamedEventFragment,
} from '../../generated/operations/rest.ts';
import { MAX_INT } from '../../storage/int.ts';
import { errorBody } from '../error-body.ts';
import { type DoneFrame, eventFrame, type Frame, replyFrame } from './frames.ts';
import {
  failureOf,
  type StreamEncoder,
  type StreamForm,
  type StreamOrigin,
} from './stream-form.ts';

type Event = StreamedEventFragment | LoggedEventFragment;

/** The reply of a run: text frames, then one done frame. Source: the API document, "Events". */
export const REPLY: StreamForm<StreamedEventFragment> = {
  name: 'reply',
  frame: replyFrame,
  createEncoder: createFrameEncoder,
};

/** The events of a run. Each frame has an `id`, and run and tool events are frames too. */
export const EVENTS: StreamForm<LoggedEventFragment> = {
  name: 'events',
  frame: eventFrame,
  isReading: true,
  createEncoder: createFrameEncoder,
};

function createFrameEncoder({ requestId, lastEventId = 0, ...origin }: StreamOrigin) {
  // A replay from a later position has no RunStarted event, so the id comes from the path.
  let { runId = '' } = origin;

  const frame = (value: Frame, id = '') => `${id}data: ${JSON.stringify(value)}\n\n`;
  const done = (latency_ms: number, ending: Pick<DoneFrame, 'status'>, id?: string) =>
    frame({ event: 'done', run_id: runId, latency_ms, ...ending }, id);

  /**
   * A reader behind the end of an interrupted run still gets its terminal event. No other event has the number
   * `MAX_INT`, so the reader's next `Last-Event-ID` shows that it has received that event.
   */
  const positionOf = ({ seq }: LoggedEventFragment) => (seq > lastEventId ? seq : MAX_INT);
  const idOf = (event: Event | undefined) =>
    event && 'seq' in event ? `id: ${positionOf(event)}\n` : '';

  const encoder: StreamEncoder<Event> = {
    encode(event) {
      const id = idOf(event);
      switch (event.type) {
        case 'RunStarted':
          runId = event.runId;
          if (!('seq' in event)) return '';
          return frame(
            { event: 'run_started', delta: '', run_id: runId, session_id: event.sessionId },
            id,
          );
        case 'ToolStarted': {
          if (!('seq' in event)) return '';
          const { name, callId: call_id } = event;
          const texts = event.arguments && { arguments: event.arguments };
          return frame({ event: 'tool_started', delta: '', name, call_id, ...texts }, id);
        }
        case 'ToolFinished': {
          if (!('seq' in event)) return '';
          const { name, callId: call_id, failed, durationMs: duration_ms, result } = event;
          const facts = { name, call_id, failed, duration_ms, ...(result !== null && { result }) };
          return frame({ event: 'tool_finished', delta: '', ...facts }, id);
        }
        case 'TextDelta':
          return frame({ delta: event.delta }, id);
        case 'ChatDone':
          return done(event.latencyMs, {}, id);
        case 'ChatCancelled':
          return done(event.latencyMs, { status: 'cancelled' }, id);
        case 'ChatFailed':
          return failureOf(event);
      }
    },

    fail(error, latencyMs, event) {
      const reason = frame({ event: 'error', delta: '', ...errorBody(error, requestId) });
      return reason + done(latencyMs, { status: 'failed' }, idOf(event));
    },
  };
  return encoder;
}
