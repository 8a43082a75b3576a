import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { FindLogo } from '../../channels/web/logos.ts';
import type { BotLogo } from '../../generated/prisma/client.ts';
import type { Limiter } from '../rate-limit.ts';
import { nothingHere } from './origin.ts';

/** The bytes of all cached logos. */
const CACHE_BYTES = 16 * 1024 * 1024;

/** A logo that is opened as a page may run nothing, load nothing and read nothing. The styles are attributes of its elements. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  // The address has the hash of the content.
  'cache-control': 'public, max-age=31536000, immutable',
};

/**
 * Serves the logos of bots at `/chat/:bot/logo/:hash`. A wrong address counts as a refused request of the client's
 * address.
 */
export async function serveLogos(
  app: FastifyInstance,
  { findLogo, limiter }: { findLogo: FindLogo; limiter: Limiter },
) {
  const logos = new LRUCache<string, BotLogo>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ content }, key) => content.length + key.length,
  });
  type Params = { bot: string; hash: string };
  app.get<{ Params: Params }>('/chat/:bot/logo/:hash', async (request, reply) => {
    await limiter.admitFile(request);
    const { bot, hash } = request.params;
    const key = `${bot}/${hash}`;
    const logo = logos.get(key) ?? (await findLogo(bot, hash, await limiter.admitLookup(request)));
    if (!logo) throw await limiter.refuse(request, nothingHere());
    logos.set(key, logo);
    return reply.headers(HEADERS).type(logo.mediaType).send(Buffer.from(logo.content));
  });
}
