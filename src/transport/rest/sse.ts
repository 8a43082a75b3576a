import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import { GatewayError, readErrorCode, toGatewayError } from '../../errors.ts';
import type { StreamedEvent } from '../../operations/chat.ts';
import type { LoggedEvent } from '../../operations/runs.ts';
import { isOutage } from '../../outage.ts';
import { errorBody } from '../error-body.ts';
import { takeOver } from '../hijack.ts';
import { refusalIn } from '../reading.ts';
import type { DoneFrame, Frame } from './frames.ts';

/** What a subscription of a route tells, one after another. */
export type StreamedResult = { event: StreamedEvent | LoggedEvent };

/** What is streamed: the reply of a run, or its numbered events. */
export type StreamForm = 'reply' | 'events';

/** In characters; so much of what is ready leaves at once. */
const MAX_CHUNK = 16 * 1024;

const NO_END = 'The end of the run is not known yet. Read the run again in a few seconds.';

/** When something happens that nobody waited for. */
type Limits = { pingAfterMs?: number; headersWithinMs?: number };

/**
 * Streams a run as the frames of the API document, "Events": `data: <json>` and an empty line each, deltas and
 * then one done frame. As `events` each frame has its `id`, and those that the document does not know are frames too.
 * Where the database does not answer, so that the end of the run is not known, the connection is closed without a done
 * frame: the client reads on later.
 *
 * The headers leave with the first frame, or after 10 seconds; what fails before them is thrown, to become an
 * ordinary answer. 15 seconds without a frame are bridged by a comment, so that no proxy hangs up.
 *
 * @param start begins the run, or to read it; it may wait for its turn.
 * @param signal aborted when the client has gone: nothing is written any more. A reason that is a `GatewayError` is one
 *   that the client is told, and does not wait for a client who is slow.
 */
export async function streamEvents(
  reply: FastifyReply,
  form: StreamForm,
  start: () => Promise<AsyncIterable<StreamedResult>>,
  signal: AbortSignal,
  { pingAfterMs = 15_000, headersWithinMs = 10_000 }: Limits = {},
): Promise<void> {
  const { raw } = reply;
  const startedAt = performance.now();
  // Whoever reads on from a later position is not told of the beginning again.
  let { run_id: runId = '' } = reply.request.params as { run_id?: string };
  let isOpen = false;
  let isWhole = false;
  let isReading = false;
  let isBroken = false;
  /** Frames that are ready in the same moment: they leave in one chunk. */
  let ready = '';

  const open = () => {
    if (isOpen) return;
    isOpen = true;
    takeOver(reply);
  };

  const flush = () => {
    if (ready !== '') raw.write(ready);
    ready = '';
  };

  const write = async (text: string) => {
    open();
    ping.refresh();
    if (ready === '') process.nextTick(flush);
    ready += text;
    if (ready.length > MAX_CHUNK) flush();
    if (raw.writableNeedDrain && !signal.aborted) await once(raw, 'drain', { signal });
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

  /** Closes the connection without ending the answer, so that the client sees that the stream is not whole. */
  const breakOff = (error: GatewayError) => {
    if (!isOpen) throw error;
    reply.log.error({ runId, err: error.cause }, error.message);
    isBroken = true;
    flush();
    raw.socket?.destroySoon();
  };

  const send = async (event: StreamedEvent | LoggedEvent) => {
    const id = 'seq' in event ? `id: ${event.seq}\n` : '';
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

  const ping = setInterval(() => {
    if (isOpen && !raw.writableNeedDrain) raw.write(': ping\n\n');
  }, pingAfterMs);
  const openAlone = () => {
    open();
    raw.flushHeaders();
  };
  const headers = setTimeout(openAlone, headersWithinMs);
  try {
    const results = await start();
    isReading = true;
    // A run that failed is none of the faults of this request, which is to read it.
    if (form === 'events') openAlone();
    for await (const { event } of results) await send(event);
    signal.throwIfAborted();
    if (form === 'reply' && !isWhole) breakOff(new GatewayError('internal_error', NO_END));
  } catch (error) {
    const told = signal.aborted ? refusalIn(signal) : toGatewayError(error);
    if (told && isReading && isOutage(told.cause)) breakOff(told);
    else if (told && !isWhole) await fail(told, Math.round(performance.now() - startedAt));
  } finally {
    clearInterval(ping);
    clearTimeout(headers);
    flush();
    if (isOpen && !isBroken) raw.end();
  }
}
