import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '../errors.ts';
import type { Limiter } from './rate-limit.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route accepts an empty body, with any content type. */
    emptyBody?: boolean;
  }
}

/** Makes a server accept JSON bodies in UTF-8, within the memory that the limiter reserves. */
export function readBodies(app: FastifyInstance, limiter: Limiter): void {
  app.addHook('preParsing', async (request, reply) => {
    const { routeOptions, headers } = request;
    if (hasBody(headers)) await limiter.receive(request, reply);
    // Without a body the content type is meaningless, so Fastify must not check it.
    else if (routeOptions.config.emptyBody) delete headers['content-type'];
  });

  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (needsNoBody(request, body)) return done(null, undefined);
    if (isEncoded(request)) return done(encoded());
    try {
      const text = utf8.decode(Buffer.from(body));
      parseJson(request, text, done);
    } catch {
      done(new GatewayError('invalid_json', 'The body is not valid UTF-8.'));
    }
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (needsNoBody(request, body)) return done(null, undefined);
    done(new GatewayError('invalid_request', 'Send the body as "Content-Type: application/json".'));
  });
}

/** Whether a body has a content encoding. None is supported. */
function isEncoded({ headers }: FastifyRequest): boolean {
  return !/^(identity)?$/i.test(headers['content-encoding'] ?? '');
}

function encoded(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'Send the body without "Content-Encoding": compressed bodies are not supported.',
  );
}

function hasBody(headers: FastifyRequest['headers']): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) !== 0;
}

function needsNoBody({ routeOptions }: FastifyRequest, body: string | Buffer): boolean {
  return body.length === 0 && routeOptions.config.emptyBody === true;
}
