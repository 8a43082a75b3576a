import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/** Responds with a text that is the same for every client. */
export type SendText = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The bytes and the headers of a text. All its responses share them. */
export type SharedText = {
  plain: Buffer;
  headers: Record<string, string>;
  etag: string;
  /** The compressed bytes so far, by their encoding. */
  encoded: Map<string, Promise<Buffer>>;
};

const COMPRESS = { br: promisify(brotliCompress), gzip: promisify(gzip) };
const ENCODINGS = ['br', 'gzip'] as const;

/**
 * Prepares a text for `sendText`.
 *
 * @param headers of each response. The entity tag changes with them, because some of them, such as the policy of a page,
 *   belong to the text that a browser keeps.
 */
export function shareText(text: string, headers: Record<string, string>): SharedText {
  const version = hash('sha256', JSON.stringify(headers) + text).slice(0, 16);
  // Weak, because the encodings of the text share it.
  return { plain: Buffer.from(text), headers, etag: `W/"${version}"`, encoded: new Map() };
}

/**
 * Responds with a text, or with 304 to a client that has it. The first response in an encoding compresses it on the
 * thread pool.
 *
 * @param compressed whether it is worth to compress the text.
 */
export async function sendText(
  { plain, headers, etag, encoded }: SharedText,
  request: FastifyRequest,
  reply: FastifyReply,
  { compressed }: { compressed: boolean },
): Promise<FastifyReply> {
  const vary = [reply.getHeader('vary'), headers.vary, compressed && 'Accept-Encoding'];
  reply.headers({ ...headers, etag, vary: vary.filter(Boolean).join(', ') });
  if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
  const accepted = compressed ? new Negotiator(request.raw).encodings([...ENCODINGS]) : [];
  const encoding = ENCODINGS.find((name) => accepted.includes(name));
  if (!encoding) return reply.send(plain);
  const bytes = encoded.get(encoding) ?? COMPRESS[encoding](plain);
  encoded.set(encoding, bytes);
  return reply.header('content-encoding', encoding).send(await bytes);
}

/** Serves a text that never changes while the process runs. The first request creates it. */
export function createSharedText(make: () => string, headers: Record<string, string>): SendText {
  let made: SharedText | undefined;
  return (request, reply) => {
    made ??= shareText(make(), headers);
    return sendText(made, request, reply, { compressed: true });
  };
}
