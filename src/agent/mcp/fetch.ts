import { setTimeout } from 'node:timers/promises';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { jsonText } from '../../json.ts';
import type { Egress } from '../egress.ts';
import { EgressError } from '../egress-error.ts';
import { CONNECTION_CLOSED } from './failure.ts';

/** Milliseconds between two streams on which the server speaks unasked: doubled each time, up to a minute. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

/** The bytes of one answer, however many messages are in it. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const requestId = z.union([z.string(), z.number()]);
const message = jsonText.pipe(
  z.object({
    id: requestId.optional(),
    method: z.string().optional(),
    params: z.object({ requestId: requestId.optional() }).optional(),
  }),
);

/**
 * The network of one client of the protocol, through the guard. It adds what the client does not see to by itself:
 * answers are bounded, a request that is cancelled ends its HTTP exchange too, one whose stream ends without its
 * answer fails at once and not by its time limit, and a server that keeps hanging up is not asked ever again at once.
 *
 * @param onSilence is called when the stream ends on which the server speaks unasked.
 */
export function createMcpFetch(egress: Pick<Egress, 'fetch'>, onSilence: () => void): FetchLike {
  const underWay = new Map<RequestId, AbortController>();

  let pause = 0;
  let resumeAt = 0;
  const pace = async (signal: AbortSignal) => {
    const wait = resumeAt - performance.now();
    pause = Math.min(Math.max(pause * 2, FIRST_PAUSE), LONGEST_PAUSE);
    resumeAt = Math.max(resumeAt, performance.now()) + pause;
    if (wait > 0) await setTimeout(wait, undefined, { signal });
  };

  return async (url, { method, headers, body, signal } = {}) => {
    const sent = message.safeParse(body).data ?? {};
    const cancelled =
      sent.method === 'notifications/cancelled' ? sent.params?.requestId : undefined;
    if (cancelled !== undefined) underWay.get(cancelled)?.abort();
    const id = sent.method === undefined ? undefined : sent.id;
    const exchange = new AbortController();
    if (id !== undefined) underWay.set(id, exchange);
    const over = () => {
      if (id !== undefined) underWay.delete(id);
    };
    try {
      const signals = signal ? [signal, exchange.signal] : [exchange.signal];
      const init = { method, headers, body, signal: AbortSignal.any(signals) };
      if (method === 'GET') await pace(init.signal);
      const { status, headers: answered, body: stream } = await egress.fetch(url, init);
      if (!stream) over();
      const isStream = /^text\/event-stream\b/i.test(answered.get('content-type') ?? '');
      const ending = {
        lastWords: isStream && id !== undefined ? lastWordsFor(id) : undefined,
        onEnd: () => {
          over();
          if (isStream && method === 'GET') onSilence();
        },
      };
      return new Response(stream && watch(stream, ending), { status, headers: answered });
    } catch (error) {
      over();
      throw error;
    }
  };
}

/** An event that answers a request in the server's place; where it is answered already, it means nothing. */
function lastWordsFor(id: RequestId): string {
  return `\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error: CONNECTION_CLOSED })}\n\n`;
}

/** The same stream within its bounds; its last words are added unless an event's id says that it goes on elsewhere. */
function watch(
  stream: ReadableStream<Uint8Array>,
  { lastWords, onEnd }: { lastWords: string | undefined; onEnd: () => void },
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let size = 0;
  let isResumable = false;
  let tail = '\n';
  const read = async () => {
    const { done, value } = await reader.read();
    if (done) return undefined;
    size += value.length;
    if (size > MAX_ANSWER_BYTES) {
      await reader.cancel();
      throw new EgressError('broken-answer');
    }
    tail += Buffer.from(value).toString('latin1');
    isResumable ||= /[\r\n]id:/.test(tail);
    tail = tail.slice(-3);
    return value;
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = await read();
        if (chunk) return controller.enqueue(chunk);
      } catch (error) {
        onEnd();
        if (lastWords === undefined) return controller.error(error);
      }
      onEnd();
      if (lastWords && !isResumable) controller.enqueue(Buffer.from(lastWords));
      controller.close();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
}
