import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import { GatewayError, readErrorCode, toGatewayError } from '../errors.ts';
import type { StreamedEvent } from '../operations/chat.ts';
import { errorBody } from './error-body.ts';

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/**
 * Streams a run as the frames of the API document, "Events": `data: <json>` and an empty line each, deltas and
 * then one done frame, whatever happens.
 *
 * The headers leave with the first delta, or after 10 seconds; what fails before them is thrown, to become an
 * ordinary answer. 15 seconds without a frame are bridged by a comment, so that no proxy hangs up.
 *
 * @param start begins the run; it may wait for its turn.
 * @param signal aborted when the client has gone: nothing is written any more.
 */
export async function streamEvents(
  reply: FastifyReply,
  start: () => Promise<AsyncIterable<StreamedEvent>>,
  signal: AbortSignal,
  { pingAfterMs = 15_000, headersWithinMs = 10_000 } = {},
): Promise<void> {
  const { raw } = reply;
  const startedAt = performance.now();
  let runId = '';

  const open = () => {
    if (raw.headersSent) return;
    reply.hijack();
    for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...HEADERS })) {
      if (value !== undefined) raw.setHeader(name, value);
    }
    raw.flushHeaders();
  };

  const write = async (text: string) => {
    open();
    ping.refresh();
    if (!raw.write(text)) await once(raw, 'drain', { signal });
  };

  const frame = (value: unknown) => write(`data: ${JSON.stringify(value)}\n\n`);

  const fail = async (error: GatewayError, latencyMs: number) => {
    if (!raw.headersSent) throw error;
    if (error.cause) reply.log.error({ runId, err: error.cause }, error.message);
    await frame({ event: 'error', delta: '', ...errorBody(error, reply.request.id) });
    await frame({ event: 'done', run_id: runId, latency_ms: latencyMs, status: 'failed' });
  };

  const send = async (event: StreamedEvent) => {
    switch (event.type) {
      case 'RunStarted':
        runId = event.runId;
        return;
      case 'ToolStarted':
      case 'ToolFinished':
        return;
      case 'TextDelta':
        return frame({ delta: event.delta });
      case 'ChatDone':
        return frame({ event: 'done', run_id: runId, latency_ms: event.latencyMs });
      case 'ChatCancelled':
        return frame({
          event: 'done',
          run_id: runId,
          latency_ms: event.latencyMs,
          status: 'cancelled',
        });
      case 'ChatFailed':
        return fail(new GatewayError(readErrorCode(event.code), event.message), event.latencyMs);
    }
  };

  const ping = setInterval(() => {
    if (raw.headersSent && !raw.writableNeedDrain) raw.write(': ping\n\n');
  }, pingAfterMs);
  const headers = setTimeout(open, headersWithinMs);
  try {
    for await (const event of await start()) await send(event);
  } catch (error) {
    if (!signal.aborted)
      await fail(toGatewayError(error), Math.round(performance.now() - startedAt));
  } finally {
    clearInterval(ping);
    clearTimeout(headers);
    if (raw.headersSent) raw.end();
  }
}
