import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** One HTTP answer, as it stood on the wire. */
export type WireAnswer = { status: number; headers: Headers; body: string };

/** How long an exchange may take before it counts as one that hangs. */
const LIMIT_MS = 15_000;

export function openSocket(url: string): Socket {
  const { port, hostname } = new URL(url);
  // A server that hangs up while it is still being sent to is one of the ways in which it may answer.
  return connect({ port: Number(port), host: hostname, allowHalfOpen: true }).on('error', () => {});
}

/**
 * Sends bytes as they stand, and reads until the server hangs up.
 *
 * @param hangsUp whether nothing is sent after them: without it the server is waited for.
 * @throws an error where the server neither answers to the end nor hangs up.
 */
export async function exchange(
  url: string,
  bytes: string | Uint8Array,
  { hangsUp = false } = {},
): Promise<Buffer> {
  const socket = openSocket(url);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (hangsUp) socket.end(bytes);
  else socket.write(bytes);
  const limit = new AbortController();
  const over = Promise.race([once(socket, 'end'), once(socket, 'close')]);
  const late = setTimeout(LIMIT_MS, 'late', { signal: limit.signal }).catch(() => {});
  const outcome = await Promise.race([over, late]);
  limit.abort();
  socket.destroy();
  if (outcome === 'late') throw new Error(`No end of the answer to: ${bytes.slice(0, 500)}`);
  return Buffer.concat(chunks);
}

/**
 * Reads all answers on a connection, in their order. Interim ones (100 to 199) are passed by.
 *
 * @param bodyless whether the first has no body, whatever its headers say: that to HEAD, where it was understood.
 * @throws an error where the bytes are no HTTP, or end before an answer does. Source: RFC 9112.
 */
export function readAnswers(bytes: Buffer, bodyless = false): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = bytes.toString('latin1');
  while (rest !== '') {
    const [, line = '', head = ''] =
      /^HTTP\/1\.1 (\d{3} [^\r\n]*)((?:\r\n[^\r\n]+)*)\r\n\r\n/.exec(rest) ?? [];
    if (line === '') throw new Error(`No answer of HTTP: ${rest.slice(0, 500)}`);
    rest = rest.slice(`HTTP/1.1 ${line}${head}\r\n\r\n`.length);
    const status = Number(line.slice(0, 3));
    if (status < 200) continue;
    const headers = new Headers(
      head
        .split('\r\n')
        .slice(1)
        .map((field): [string, string] => {
          const [name = '', ...value] = field.split(':');
          return [name, value.join(':').trim()];
        }),
    );
    const isBare = bodyless && answers.length === 0 && /^(HTTP\/1\.1 |$)/.test(rest);
    const [body, behind] = isBare ? ['', rest] : readBody(headers, rest);
    rest = behind;
    answers.push({ status, headers, body: Buffer.from(body, 'latin1').toString() });
  }
  return answers;
}

/** @returns the body, and what comes behind it. */
function readBody(headers: Headers, text: string): [string, string] {
  if (headers.get('transfer-encoding') !== 'chunked') {
    const length = Number(headers.get('content-length') ?? text.length);
    if (text.length < length) throw new Error(`The body ends early: ${text.slice(0, 500)}`);
    return [text.slice(0, length), text.slice(length)];
  }
  let body = '';
  let rest = text;
  for (;;) {
    const [line = '', digits = ''] = /^([0-9a-f]+)\r\n/i.exec(rest) ?? [];
    const size = Number.parseInt(digits, 16);
    const chunk = rest.slice(line.length, line.length + size);
    const end = line.length + size + '\r\n'.length;
    if (line === '' || rest.slice(end - 2, end) !== '\r\n') {
      throw new Error(`No chunk: ${rest.slice(0, 500)}`);
    }
    body += chunk;
    rest = rest.slice(end);
    if (size === 0) return [body, rest];
  }
}

/** The only answer there is on a connection. */
export async function answerTo(
  url: string,
  bytes: string | Uint8Array,
  options: { hangsUp?: boolean; bodyless?: boolean } = {},
): Promise<WireAnswer> {
  const [answer, ...more] = readAnswers(await exchange(url, bytes, options), options.bodyless);
  if (answer === undefined || more.length > 0) {
    throw new Error(`${more.length + (answer ? 1 : 0)} answers to: ${bytes.slice(0, 500)}`);
  }
  return answer;
}

/** The bytes of a request, with a `Content-Length` where it has a body, which is the last on its connection. */
export function requestText(
  line: string,
  headers: Record<string, string | undefined> = {},
  body?: string,
): string {
  const fields = {
    host: 'localhost',
    connection: 'close',
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}`);
  return `${[`${line} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body ?? ''}`;
}
