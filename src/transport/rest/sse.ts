import type { FastifyReply } from 'fastify';
import { startDeadline } from '../../async/deadline.ts';
import { startPeriodic } from '../../async/periodic.ts';
import { GatewayError, readErrorCode } from '../../errors/errors.ts';
import { toGatewayError } from '../../errors/mask.ts';
import { isOutage } from '../../errors/outage.ts';
import type {
  LoggedEventFragment,
  StreamedEventFragment,
} from '../../generated/operations/rest.ts';
import { MAX_INT } from '../../storage/int.ts';
import { errorBody } from '../error-body.ts';
import { createEventWriter } from '../event-writer.ts';
import { hijack } from '../hijack.ts';
import { refusalIn } from '../reading.ts';
import type { DoneFrame, Frame } from './frames.ts';

/** One result of a route's subscription. */
export type StreamedResult = { event: StreamedEventFragment | LoggedEventFragment };

/** Whether a stream carries the reply of a run or its numbered events. */
export type StreamForm = 'reply' | 'events';

const NO_END = 'The outcome of the run is not known yet. Retrieve the run again in a few seconds.';

type Options = {
  /** The number of the last event that the client received before it reconnected. */
  lastEventId?: number | undefined;
  pingAfterMs?: number;
  headersWithinMs?: number;
};

/**
 * Streams a run as the Server-Sent Events of the API document, "Events": text frames, then one done frame. With the form
 * `events`, each frame has an `id`, and run and tool events are frames too. If a database outage hides the outcome of
 * the run, the connection closes without a done frame, and the client resumes later.
 *
 * The headers are sent with the first frame, or after 10 seconds. An error before that is thrown and becomes an ordinary
 * response. After 15 seconds without a frame, a comment keeps proxies from closing the connection.
 *
 * @param start starts or reads the run. May wait for the session's queue.
 * @param signal aborted when the client disconnects; then nothing more is written. If its reason is a `GatewayError`, the
 *   client receives that error, without backpressure.
 */
export async function streamEvents(
  reply: FastifyReply,
  form: StreamForm,
  start: () => Promise<AsyncIterable<StreamedResult>>,
  signal: AbortSignal,
  { lastEventId = 0, pingAfterMs = 15_000, headersWithinMs = 10_000 }: Options = {},
): Promise<void> {
  const { raw } = reply;
  const writer = createEventWriter(raw);
  const startedAt = performance.now();
  // A replay from a later position has no RunStarted event, so the id comes from the path.
  let { run_id: runId = '' } = reply.request.params as { run_id?: string };
  let isOpen = false;
  let isWhole = false;
  let isReading = false;
  let isBroken = false;

  const open = () => {
    if (isOpen) return;
    isOpen = true;
    hijack(reply);
  };

  const write = (text: string) => {
    open();
    ping.restart();
    return writer.write(text, signal);
  };

  const frame = (value: Frame, id = '') => write(`${id}data: ${JSON.stringify(value)}\n\n`);

  const done = (latency_ms: number, ending: Pick<DoneFrame, 'status'>, id?: string) => {
    isWhole = true;
    return frame({ event: 'done', run_id: runId, latency_ms, ...ending }, id);
  };

  const fail = async (error: GatewayError, latencyMs: number, id = '') => {
    if (!isOpen) throw error;
    if (error.cause) reply.log.error({ runId, err: error.cause }, error.message);
    await frame({ event: 'error', delta: '', ...errorBody(error, reply.request.id) });
    await done(latencyMs, { status: 'failed' }, id);
  };

  /** Closes the connection mid-response, so that the client detects an incomplete stream. */
  const breakOff = (error: GatewayError) => {
    if (!isOpen) throw error;
    reply.log.error({ runId, err: error.cause }, error.message);
    isBroken = true;
    writer.flush();
    raw.socket?.destroySoon();
  };

  /**
   * A reader behind the end of an interrupted run still gets its terminal event. No other event has the number
   * `MAX_INT`, so the reader's next `Last-Event-ID` shows that it has received that event.
   */
  const positionOf = ({ seq }: LoggedEventFragment) => (seq > lastEventId ? seq : MAX_INT);

  const send = async (event: StreamedEventFragment | LoggedEventFragment) => {
    const id = 'seq' in event ? `id: ${positionOf(event)}\n` : '';
    switch (event.type) {
      case 'RunStarted':
        runId = event.runId;
        if (!('seq' in event)) return;
        return frame(
          { event: 'run_started', delta: '', run_id: runId, session_id: event.sessionId },
          id,
        );
      case 'ToolStarted':
        if (!('seq' in event)) return;
        return frame(
          { event: 'tool_started', delta: '', name: event.name, call_id: event.callId },
          id,
        );
      case 'ToolFinished': {
        if (!('seq' in event)) return;
        const { name, callId: call_id, failed, durationMs: duration_ms } = event;
        return frame({ event: 'tool_finished', delta: '', name, call_id, failed, duration_ms }, id);
      }
      case 'TextDelta':
        return frame({ delta: event.delta }, id);
      case 'ChatDone':
        return done(event.latencyMs, {}, id);
      case 'ChatCancelled':
        return done(event.latencyMs, { status: 'cancelled' }, id);
      case 'ChatFailed':
        return fail(
          new GatewayError(readErrorCode(event.code), event.message),
          event.latencyMs,
          id,
        );
    }
  };

  const sendPing = () => {
    if (isOpen && !raw.writableNeedDrain) raw.write(': ping\n\n');
  };
  const openAlone = () => {
    open();
    raw.flushHeaders();
  };
  await using ping = startPeriodic(sendPing, { everyMs: pingAfterMs });
  using headers = startDeadline(headersWithinMs);
  headers.signal.addEventListener('abort', openAlone);
  try {
    const results = await start();
    isReading = true;
    // The failure of a run is not an error of the request that reads its events.
    if (form === 'events') openAlone();
    for await (const { event } of results) await send(event);
    signal.throwIfAborted();
    if (form === 'reply' && !isWhole) breakOff(new GatewayError('internal_error', NO_END));
  } catch (error) {
    const failure = signal.aborted ? refusalIn(signal) : toGatewayError(error);
    if (failure && isReading && isOutage(failure.cause)) breakOff(failure);
    else if (failure && !isWhole) await fail(failure, Math.round(performance.now() - startedAt));
  } finally {
    if (isOpen && !isBroken) writer.end();
  }
}
