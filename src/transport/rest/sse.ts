import type { FastifyReply } from 'fastify';
import { startDeadline } from '../../async/deadline.ts';
import { startPeriodic } from '../../async/periodic.ts';
import { GatewayError } from '../../errors/errors.ts';
import { toGatewayError } from '../../errors/mask.ts';
import { isOutage } from '../../errors/outage.ts';
import { createEventWriter } from '../event-writer.ts';
import { hijack } from '../hijack.ts';
import { refusalIn } from '../reading.ts';
import { isTerminal, type StreamForm } from './stream-form.ts';

const NO_END = 'The outcome of the run is not known yet. Retrieve the run again in a few seconds.';

type Options = {
  /** The number of the last event that the client received before it reconnected. */
  lastEventId?: number | undefined;
  /** What the route kept of the request. */
  asked?: unknown;
  pingAfterMs?: number;
  headersWithinMs?: number;
};

/**
 * Streams a run as Server-Sent Events, in the form of an interface. If a database outage hides the outcome of
 * the run, the connection closes without a terminal event, and the client resumes later.
 *
 * The headers are sent with the first text, or after 10 seconds. An error before that is thrown and becomes an ordinary
 * response. After 15 seconds without a text, a comment keeps proxies from closing the connection.
 *
 * @param start starts or reads the run. May wait for the session's queue.
 * @param signal aborted when the client disconnects; then nothing more is written. If its reason is a `GatewayError`, the
 *   client receives that error, without backpressure.
 */
export async function streamEvents<Event extends { type: string }>(
  reply: FastifyReply,
  form: StreamForm<Event>,
  start: () => Promise<AsyncIterable<{ event: Event }>>,
  signal: AbortSignal,
  { lastEventId, asked, pingAfterMs = 15_000, headersWithinMs = 10_000 }: Options = {},
): Promise<void> {
  const { raw, request } = reply;
  const writer = createEventWriter(raw);
  const startedAt = performance.now();
  const { run_id: runId } = request.params as { run_id?: string };
  const encoder = form.createEncoder({ requestId: request.id, runId, lastEventId, asked });
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

  const logged = (error: GatewayError) => {
    const id = runId ?? reply.getHeader('x-run-id');
    reply.log.error({ runId: id, err: error.cause }, error.message);
  };

  const fail = async (error: GatewayError, latencyMs: number, event?: Event) => {
    if (!isOpen) throw error;
    if (error.cause) logged(error);
    isWhole = true;
    await write(encoder.fail(error, latencyMs, event));
  };

  /** Closes the connection mid-response, so that the client detects an incomplete stream. */
  const breakOff = (error: GatewayError) => {
    if (!isOpen) throw error;
    logged(error);
    isBroken = true;
    writer.flush();
    raw.socket?.destroySoon();
  };

  const elapsed = () => Math.round(performance.now() - startedAt);

  const send = async (event: Event) => {
    const text = encoder.encode(event);
    if (typeof text !== 'string') {
      const latencyMs = 'latencyMs' in event ? Number(event.latencyMs) : elapsed();
      return fail(text, latencyMs, event);
    }
    if (isTerminal(event)) isWhole = true;
    if (text !== '') await write(text);
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
    if (form.isReading) openAlone();
    for await (const { event } of results) await send(event);
    signal.throwIfAborted();
    if (!form.isReading && !isWhole) breakOff(new GatewayError('internal_error', NO_END));
  } catch (error) {
    const failure = signal.aborted ? refusalIn(signal) : toGatewayError(error);
    if (failure && isReading && isOutage(failure.cause)) breakOff(failure);
    else if (failure && !isWhole) await fail(failure, elapsed());
  } finally {
    if (isOpen && !isBroken) writer.end();
  }
}
