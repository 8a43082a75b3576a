import { setTimeout } from 'node:timers/promises';
import type { FetchLike, RequestId } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Egress } from '../../egress/egress.ts';
import { EgressError } from '../../egress/error.ts';
import { IDEMPOTENCY_KEY } from '../../egress/idempotency-key.ts';
import { normalizeLineEnds } from '../../model/line-ends.ts';
import { jsonText } from '../../text/json.ts';
import { CONNECTION_CLOSED } from './client-failure.ts';

/** Milliseconds between two notification streams: doubled each time, up to a minute. */
const FIRST_PAUSE = 1_000;
export const LONGEST_PAUSE = 60_000;

const KIB = 1024;
/** Bytes of one response by request method, for all its messages together. Other methods have 64 KiB. */
const MAX_ANSWER_BYTES: Record<string, number> = {
  'tools/call': 4 * KIB * KIB,
  /** For all pages of a listing together. */
  'tools/list': KIB * KIB,
};
const MAX_OTHER_BYTES = 64 * KIB;
/** Bytes of one notification stream: about a thousand notifications. */
const MAX_UNASKED_BYTES = 256 * KIB;
/** Bytes of a resumed stream, which may also carry the rest of a response. */
const MAX_RESUMED_BYTES = KIB * KIB;
/** Lines of one event stream: about two thousand messages. The client takes up to 0.1 ms for each, even for an invalid one. */
const MAX_LINES = 4_096;
/** Concurrent replies to requests from the server. */
const MAX_REPLIES = 8;

/** The request that opens the notification stream in the version 2026-07-28. In older ones it is a GET. */
const LISTEN = 'subscriptions/listen';

/** The first request to a server, which only the version 2026-07-28 has. */
const DISCOVER = 'server/discover';
/** JSON-RPC's error for an unknown method. The client then connects as the older versions do. */
const UNKNOWN_METHOD = { code: -32_601, message: 'Method not found' };
/** Servers that were written by hand accept each request that they do not know, or fail. */
const isOfOlderServer = (status: number) => status === 202 || status >= 500;

/** The member of a call's `_meta` with the `Idempotency-Key` of its request. */
export const KEY_IN_META = 'parley/idempotency-key';

const requestId = z.union([z.string(), z.number()]);
const message = jsonText.pipe(
  z.object({
    id: requestId.optional(),
    method: z.string().optional(),
    params: z
      .object({
        requestId: requestId.optional(),
        cursor: z.string().optional(),
        _meta: z.object({ [KEY_IN_META]: z.string().optional() }).optional(),
      })
      .optional(),
  }),
);

/**
 * The `fetch` of one MCP client, through the egress guard. It sends the idempotency key of a call as a header, unless the
 * definition sets that header, and adds five rules that the client lacks:
 * - Responses are bounded.
 * - Cancelling a request also aborts its HTTP exchange.
 * - A request whose stream ends without a response fails immediately, not at its time limit.
 * - A server that repeatedly closes its notification stream is reconnected with a backoff.
 * - A server of an older version that does not answer the request of a newer one with an error is asked in the older way.
 *
 * @param onStreamEnd is called when a notification stream ends.
 */
export function createMcpFetch(egress: Pick<Egress, 'fetch'>, onStreamEnd: () => void): FetchLike {
  const underWay = new Map<RequestId, AbortController>();
  let replies = 0;
  let listed = { bytes: 0 };

  let pause = 0;
  let resumeAt = 0;
  const pace = async (signal: AbortSignal) => {
    const wait = resumeAt - performance.now();
    pause = Math.min(Math.max(pause * 2, FIRST_PAUSE), LONGEST_PAUSE);
    resumeAt = Math.max(resumeAt, performance.now()) + pause;
    if (wait > 0) await setTimeout(wait, undefined, { signal });
  };

  /** The byte limit of a response, and the bytes read so far. Pages of one listing share a limit. */
  const limitOf = ({ method, params }: z.infer<typeof message>): Limit => {
    const most = MAX_ANSWER_BYTES[method ?? ''] ?? MAX_OTHER_BYTES;
    if (method !== 'tools/list') return { most, read: { bytes: 0 } };
    if (params?.cursor === undefined) listed = { bytes: 0 };
    return { most, read: listed };
  };

  const limitOfStream = (headers: RequestInit['headers']): Limit => {
    const isResumed = new Headers(headers).has('last-event-id');
    return { most: isResumed ? MAX_RESUMED_BYTES : MAX_UNASKED_BYTES, read: { bytes: 0 } };
  };

  return async (url, { method, headers, body, signal } = {}) => {
    const sent = message.safeParse(body).data ?? {};
    const cancelled =
      sent.method === 'notifications/cancelled' ? sent.params?.requestId : undefined;
    if (cancelled !== undefined) underWay.get(cancelled)?.abort();
    const id = sent.method === undefined ? undefined : sent.id;
    const exchange = new AbortController();
    if (id !== undefined) underWay.set(id, exchange);
    const isFollowing = method === 'GET' || sent.method === LISTEN;
    const isReply = typeof body === 'string' && sent.method === undefined;
    if (isReply && replies === MAX_REPLIES) throw new EgressError('broken-answer');
    if (isReply) replies += 1;
    const over = () => {
      if (id !== undefined) underWay.delete(id);
    };
    try {
      const signals = signal ? [signal, exchange.signal] : [exchange.signal];
      const init = {
        method,
        headers: withKey(headers, sent),
        body,
        signal: AbortSignal.any(signals),
      };
      if (isFollowing) await pace(init.signal);
      const { status, headers: answered, body: stream } = await egress.fetch(url, init);
      if (sent.method === DISCOVER && id !== undefined && isOfOlderServer(status)) {
        over();
        await stream?.cancel();
        return Response.json({ jsonrpc: '2.0', id, error: UNKNOWN_METHOD });
      }
      if (!stream) over();
      const isStream = /^text\/event-stream\b/i.test(answered.get('content-type') ?? '');
      const ending = {
        isStream,
        limit: isFollowing ? limitOfStream(headers) : limitOf(sent),
        failureEvent:
          isStream && id !== undefined && !isFollowing ? failureEventFor(id) : undefined,
        onEnd: () => {
          over();
          if (isStream && isFollowing) onStreamEnd();
        },
      };
      return new Response(stream && watch(stream, ending), { status, headers: answered });
    } catch (error) {
      over();
      throw error;
    } finally {
      if (isReply) replies -= 1;
    }
  };
}

function withKey(
  headers: RequestInit['headers'],
  { params }: z.infer<typeof message>,
): RequestInit['headers'] {
  const key = params?._meta?.[KEY_IN_META];
  if (key === undefined) return headers;
  const all = new Headers(headers);
  if (!all.has(IDEMPOTENCY_KEY)) all.set(IDEMPOTENCY_KEY, key);
  return all;
}

type Limit = { most: number; read: { bytes: number } };

type Ending = {
  isStream: boolean;
  limit: Limit;
  failureEvent: string | undefined;
  onEnd: () => void;
};

/** A synthetic event that fails a request. The client ignores it if the request already has its response. */
function failureEventFor(id: RequestId): string {
  return `\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error: CONNECTION_CLOSED })}\n\n`;
}

/**
 * Bounds a stream, and appends `failureEvent` unless an event id shows that the client can resume it. It refuses a batch
 * of messages: the client sends none, and checking every message of one would block the process.
 */
function watch(
  stream: ReadableStream<Uint8Array>,
  { isStream, limit, failureEvent, onEnd }: Ending,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  const normalize = normalizeLineEnds();
  let isResumable = false;
  let lineCount = 0;
  let isBlank = true;
  let tail = '\n';
  const refuse = async () => {
    await reader.cancel();
    throw new EgressError('broken-answer');
  };
  const read = async () => {
    const { done, value } = await reader.read();
    if (done) return undefined;
    limit.read.bytes += value.length;
    if (limit.read.bytes > limit.most) await refuse();
    const text = Buffer.from(value).toString('latin1');
    if (!isStream) {
      if (isBlank && text.trimStart().startsWith('[')) await refuse();
      isBlank &&= text.trim() === '';
      return value;
    }
    const lines = normalize(text);
    lineCount += lines.split('\n').length - 1;
    if (lineCount > MAX_LINES) await refuse();
    tail += lines;
    isResumable ||= tail.includes('\nid:');
    tail = tail.slice(-3);
    return Buffer.from(lines, 'latin1');
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = await read();
        if (chunk) return controller.enqueue(chunk);
      } catch (error) {
        onEnd();
        if (failureEvent === undefined) return controller.error(error);
      }
      onEnd();
      if (failureEvent && !isResumable) controller.enqueue(Buffer.from(failureEvent));
      controller.close();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
}
