import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** One HTTP response, parsed from its bytes. */
export type WireAnswer = { status: number; headers: Headers; body: string };

/** Time after which an exchange counts as hung. */
const LIMIT_MS = 120_000;

export function openSocket(url: string): Socket {
  const { port, hostname } = new URL(url);
  // A server may close the connection while the client still sends.
  return connect({ port: Number(port), host: hostname, allowHalfOpen: true }).on('error', () => {});
}

/**
 * Sends raw bytes, and reads until the server closes the connection.
 *
 * @param hangsUp whether to half-close the connection after the bytes.
 * @throws an error if the server does not close the connection in time.
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
  if (outcome === 'late')
    throw new Error(`The server did not finish its response to: ${bytes.slice(0, 500)}`);
  return Buffer.concat(chunks);
}

/**
 * Parses all responses on a connection, in order. It skips interim responses (100 to 199). Source: RFC 9112.
 *
 * @param bodyless whether the first response has no body regardless of its headers, as the response to HEAD.
 * @throws an error if the bytes are not valid HTTP, or are incomplete.
 */
export function readAnswers(bytes: Buffer, bodyless = false): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = bytes.toString('latin1');
  while (rest !== '') {
    const [, line = '', head = ''] =
      /^HTTP\/1\.1 (\d{3} [^\r\n]*)((?:\r\n[^\r\n]+)*)\r\n\r\n/.exec(rest) ?? [];
    if (line === '') throw new Error(`Not an HTTP response: ${rest.slice(0, 500)}`);
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
    const [body, remaining] = isBare ? ['', rest] : readBody(headers, rest);
    rest = remaining;
    answers.push({ status, headers, body: Buffer.from(body, 'latin1').toString() });
  }
  return answers;
}

/** @returns the body and the bytes after it. */
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
      throw new Error(`Not a chunk: ${rest.slice(0, 500)}`);
    }
    body += chunk;
    rest = rest.slice(end);
    if (size === 0) return [body, rest];
  }
}

/** The only response on a connection. */
export async function answerTo(
  url: string,
  bytes: string | Uint8Array,
  options: { hangsUp?: boolean; bodyless?: boolean } = {},
): Promise<WireAnswer> {
  const [answer, ...more] = readAnswers(await exchange(url, bytes, options), options.bodyless);
  if (answer === undefined || more.length > 0) {
    throw new Error(`${more.length + (answer ? 1 : 0)} responses to: ${bytes.slice(0, 500)}`);
  }
  return answer;
}

/** The bytes of a connection's last request, with a `Content-Length` if it has a body. */
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

/** A body in chunks of the same size. Source: RFC 9112, section 7.1. */
export function chunked(body: string, size: number): string {
  const bytes = Buffer.from(body);
  let text = '';
  for (let start = 0; start < bytes.length; start += size) {
    const chunk = bytes.subarray(start, start + size);
    text += `${chunk.length.toString(16)}\r\n${chunk.toString('latin1')}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}

/** The bytes of a connection's last request, whose body is in chunks. */
export function chunkedText(
  line: string,
  headers: Record<string, string | undefined>,
  body: string,
  size: number,
): Buffer {
  const head = requestText(line, { ...headers, 'transfer-encoding': 'chunked' });
  return Buffer.from(head + chunked(body, size), 'latin1');
}
