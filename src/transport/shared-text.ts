import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/** Responds with a text that is the same for every client. */
export type SendText = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const COMPRESS = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/**
 * Serves a text that never changes while the process runs. The first request creates it, and compresses it on the thread
 * pool. All responses share one copy of the bytes.
 *
 * @param headers of each response. The entity tag, `Vary` and `Content-Encoding` are added.
 */
export function createSharedText(make: () => string, headers: Record<string, string>): SendText {
  let made: { plain: Buffer; etag: string; encoded: Map<string, Promise<Buffer>> } | undefined;

  const prepare = () => {
    const plain = Buffer.from(make());
    // Weak, because the encodings of the text share it.
    return { plain, etag: `W/"${hash('sha256', plain).slice(0, 16)}"`, encoded: new Map() };
  };

  return async (request, reply) => {
    made ??= prepare();
    const { plain, etag, encoded } = made;
    const vary = [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', ');
    reply.headers({ ...headers, etag, vary });
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    const accepted = new Negotiator(request.raw).encodings(['br', 'gzip']);
    const encoding = (['br', 'gzip'] as const).find((name) => accepted.includes(name));
    if (!encoding) return reply.send(plain);
    const bytes = encoded.get(encoding) ?? COMPRESS[encoding](plain);
    encoded.set(encoding, bytes);
    return reply.header('content-encoding', encoding).send(await bytes);
  };
}
