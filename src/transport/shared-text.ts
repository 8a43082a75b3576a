import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/** Answers a request with a text that is the same for every client. */
export type SendText = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const COMPRESS = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/**
 * A text that does not change while the process lives. It is made and compressed once, at the first request, outside
 * the event loop; all answers share one copy of its bytes.
 *
 * @param headers of each answer; the entity tag and the negotiation of `Content-Encoding` come with them.
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
