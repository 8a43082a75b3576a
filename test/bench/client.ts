import { type Agent, request } from 'node:http';
import type { Target } from './targets.ts';
import { ANSWER, type Chat, type Mode } from './workload.ts';

/** One chat as its client observed it. Times are in milliseconds since the request began. */
export type Sample = {
  latency: number;
  /** The time of the first bytes of the body; in a stream, of the first delta. */
  firstByte: number;
  /** The problem of the response, if any. */
  failure?: string;
};

/** Sends one message and reads the whole reply. Never rejects. */
export type SendChat = (chat: Chat) => Promise<Sample>;

const TIMEOUT_MS = 30_000;
const SHOWN = 300;

/** A request. Without a body, its method is GET. */
type Exchange = { url: URL; agent: Agent; headers: Record<string, string>; body?: string };

/** A client of one server, in one mode, over the connections of an agent. */
export function createClient({ chatUrl, headers }: Target, mode: Mode, agent: Agent): SendChat {
  const url = new URL(chatUrl);
  const stream = mode === 'streamed';
  const common = {
    ...headers,
    accept: stream ? 'text/event-stream' : 'application/json',
    'content-type': 'application/json',
  };
  return ({ sessionId, message }) => {
    const body = JSON.stringify({ message, ...(stream && { stream }) });
    const all = { ...common, 'x-session-id': sessionId };
    return exchange({ url, agent, headers: all, body }, (status, text) =>
      failureOf(status, text, mode),
    );
  };
}

/** Sends a request and reads the whole response. Never rejects. @param failureOf finds the problem of a response. */
export function exchange(
  { url, agent, headers, body }: Exchange,
  failureOf: (status: number | undefined, text: string) => string | undefined,
): Promise<Sample> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let firstByte = 0;
    const end = (failure?: string) =>
      resolve({ latency: performance.now() - startedAt, firstByte, failure });
    const method = body === undefined ? 'GET' : 'POST';
    const length = body !== undefined && { 'content-length': Buffer.byteLength(body) };
    const options = { agent, method, headers: { ...headers, ...length }, timeout: TIMEOUT_MS };
    const call = request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        firstByte ||= performance.now() - startedAt;
        text += chunk;
      });
      response.on('error', (error) => end(error.message));
      response.on('end', () => end(failureOf(response.statusCode, text)));
    });
    call.on('timeout', () => call.destroy(new Error(`No response in ${TIMEOUT_MS} ms.`)));
    call.on('error', (error) => end(error.message));
    call.end(body);
  });
}

function failureOf(status: number | undefined, text: string, mode: Mode): string | undefined {
  const whole =
    mode === 'json'
      ? text.includes(ANSWER)
      : text.includes('"event":"done"') && !text.includes('"status"');
  return status === 200 && whole ? undefined : `${status} ${text.slice(0, SHOWN)}`;
}
