import type { ChatInput, ChatReply, ExecuteInput, ExecuteReply } from './chats.ts';
import type { Request } from './connection.ts';
import type { EventSource } from './event-stream.ts';
import { failure, isRunFailure } from './failure.ts';
import type { RunSource, StreamEvent } from './run-source.ts';
import type { RunDone } from './runs.ts';
import { fromWire, toWire } from './wire.ts';

const EVENT_STREAM = { accept: 'text/event-stream' };

export function restChat(
  botId: string,
  { sessionId, onBusy, ...body }: ChatInput,
  key: string,
): RunSource<ChatReply> {
  const headers = { 'x-session-id': sessionId, 'x-on-busy': onBusy, 'idempotency-key': key };
  return restSource(botId, { path: `${pathOf(botId)}/chat`, headers, body });
}

export function restExecute(
  botId: string,
  input: ExecuteInput,
  key: string,
): RunSource<ExecuteReply> {
  const headers = { 'idempotency-key': key };
  return restSource(botId, { path: `${pathOf(botId)}/execute`, headers, body: toWire(input) });
}

function restSource<Reply>(botId: string, whole: Request & { body: object }): RunSource<Reply> {
  const start = {
    ...whole,
    headers: { ...whole.headers, ...EVENT_STREAM },
    body: { ...whole.body, stream: true },
  };
  return {
    whole,
    read: (body) => fromWire(body) as Reply,
    start,
    join: { ...start, headers: { ...start.headers, 'idempotency-replay-only': 'true' } },
    follow: (runId, after) => eventsRequest(botId, runId, after),
    cancel: (runId) => ({ path: `${runPath(botId, runId)}/cancel` }),
    decode,
  };
}

export function pathOf(botId: string): string {
  return `/v1/bots/${encodeURIComponent(botId)}`;
}

export function runPath(botId: string, runId: string): string {
  return `${pathOf(botId)}/runs/${encodeURIComponent(runId)}`;
}

/** Only with `Last-Event-ID` does the server report the end of a finished run. */
export function eventsRequest(botId: string, runId: string, after = 0): Request {
  return {
    method: 'GET',
    path: `${runPath(botId, runId)}/events`,
    headers: { ...EVENT_STREAM, ...(after > 0 && { 'last-event-id': `${after}` }) },
  };
}

/** A frame of the wire, in camelCase. Text frames have no `event`. */
type Frame = { event?: string; delta: string; error?: RunDone['error'] };

/**
 * Turns frames into events. An error frame becomes the `error` of the done frame after it.
 *
 * @throws ParleyError if the read failed. A failed read ends like a failed run, but its last frame has no number. The
 *   frames of a reply have no numbers either; then only the codes of runs are the run's own.
 */
export async function* decode({ events }: EventSource): AsyncGenerator<StreamEvent> {
  let failed: Pick<Frame, 'error'> = {};
  for await (const { id, data = '' } of events) {
    const { event: type = 'text', delta, error, ...facts } = fromWire(JSON.parse(data)) as Frame;
    const number = id === undefined ? {} : { seq: Number(id) };
    if (type === 'error') failed = { error };
    else if (type === 'text') yield { type, delta, ...number };
    else if (failed.error && !id && !isRunFailure(failed.error.code)) throw failure(failed.error);
    else yield { type, ...facts, ...failed, ...number } as StreamEvent;
  }
}
