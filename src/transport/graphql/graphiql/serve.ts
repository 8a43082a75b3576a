import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { Limiter } from '../../rate-limit.ts';
import { GRAPHIQL_DIRECTORY } from './files.ts';

/**
 * The files of GraphiQL at `/graphql/assets`, streamed from the disk as they are compressed there. Browsers keep them: a
 * name changes with its content.
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
