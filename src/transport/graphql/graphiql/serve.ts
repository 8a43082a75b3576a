import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { Limiter } from '../../rate-limit.ts';
import { GRAPHIQL_DIRECTORY } from './files.ts';

/**
 * Serves GraphiQL's precompressed files at `/graphql/assets`. Browsers may cache them forever, because each name contains
 * a hash of the content.
 */
export async function serveGraphiQLFiles(app: FastifyInstance, { limiter }: { limiter: Limiter }) {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    await limiter.admitFile(request);
  });
  await app.register(fastifyStatic, {
    root: GRAPHIQL_DIRECTORY,
    prefix: '/graphql/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
    index: false,
    decorateReply: false,
  });
}
