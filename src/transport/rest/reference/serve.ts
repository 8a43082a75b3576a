import type { FastifyInstance } from 'fastify';
import { describeApi } from '../openapi/document.ts';
import { contentSecurityPolicy, ORIGIN, renderPage } from './page.ts';

/**
 * The description of the REST interface, for programs at `/v1/openapi.json` and for people at `/docs`. Neither holds
 * a secret, and neither needs a key. Each is made once, when it is first asked for.
 */
export async function serveReference(app: FastifyInstance) {
  let made: { json: string; page: string } | undefined;
  const make = () => {
    const document = describeApi();
    return { json: JSON.stringify(document), page: renderPage(document) };
  };
  const description = () => {
    made ??= make();
    return made;
  };

  app.get('/v1/openapi.json', { config: { keyless: true } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(description().json),
  );

  app.get('/docs', async ({ protocol, host }, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers({
        'content-security-policy': contentSecurityPolicy,
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      .send(description().page.replaceAll(ORIGIN, `${protocol}://${plainHost(host)}`)),
  );
}

/** The host as the reader has it; one that could mean anything to HTML or a shell is none. */
function plainHost(host: string): string {
  return /^[\w.:[\]-]+$/.test(host) ? host : 'localhost';
}
