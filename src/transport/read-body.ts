import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '../errors.ts';
import type { Limiter } from './rate-limit.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether an empty body will do, under any content type. */
    emptyBody?: boolean;
  }
}

/** Has a server read bodies that are JSON in UTF-8, within the memory that the limiter reserves for them. */
export function readBodies(app: FastifyInstance, limiter: () => Limiter): void {
  app.addHook('preParsing', async (request, reply) => {
    const { routeOptions, headers } = request;
    if (hasBody(headers)) await limiter().receive(request, reply);
    // Without a body a request has no content type, whatever its header says.
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

/** Whether a body was compressed, or encoded in any other way. Nothing here decodes. */
function isEncoded({ headers }: FastifyRequest): boolean {
  return !/^(identity)?$/i.test(headers['content-encoding'] ?? '');
}

function encoded(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'Send the body as it is, without "Content-Encoding": it is not decompressed.',
  );
}

function hasBody(headers: FastifyRequest['headers']): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) !== 0;
}

function needsNoBody({ routeOptions }: FastifyRequest, body: string | Buffer): boolean {
  return body.length === 0 && routeOptions.config.emptyBody === true;
}
