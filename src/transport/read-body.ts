import { MIMEType } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '../errors.ts';
import type { Limiter } from './rate-limit.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route accepts an empty body, with any content type. */
    emptyBody?: boolean;
    /** The text that the route accepts in place of JSON. */
    textBody?: TextBody;
  }
}

/** A text that a request may send as its whole body, in place of a JSON object with one field. */
export type TextBody = {
  /** The field of the object. */
  field: string;
  /** The media types of the text. */
  types: readonly [string, ...string[]];
};

/**
 * Makes a server accept JSON bodies, and texts where the route accepts them, in UTF-8 and within the memory that the
 * limiter reserves.
 */
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
    const text = decode(Buffer.from(body));
    if (text === undefined)
      return done(new GatewayError('invalid_json', 'The body is not valid UTF-8.'));
    parseJson(request, text, done);
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (needsNoBody(request, body)) return done(null, undefined);
    try {
      done(null, readText(request, Buffer.from(body)));
    } catch (error) {
      done(error instanceof Error ? error : null);
    }
  });
}

/**
 * Parses a text as a JSON object. An empty text is an absent field.
 *
 * @throws GatewayError `invalid_request`
 */
function readText(request: FastifyRequest, body: Buffer): Record<string, string> {
  const { textBody } = request.routeOptions.config;
  const type = readType(request.headers['content-type']);
  if (!textBody || !type || !textBody.types.includes(type.essence)) {
    const types = ['application/json', ...(textBody?.types ?? [])];
    throw invalid(`Send the body as "Content-Type: ${types.join('" or "')}".`);
  }
  if (isEncoded(request)) throw encoded();
  // US-ASCII is a part of UTF-8.
  if (!/^(utf-?8|us-ascii)$/i.test(type.params.get('charset') ?? 'utf-8')) {
    throw invalid('Send the text in UTF-8, without another charset in "Content-Type".');
  }
  const text = decode(body);
  if (text === undefined) throw invalid('The body is not valid UTF-8.');
  // Clients that forget the content type of JSON may send `text/plain`. Their secrets must not become a stored text.
  if (/^\s*[{[]/.test(text)) throw invalid('Send JSON as "Content-Type: application/json".');
  return text === '' ? {} : { [textBody.field]: text };
}

function readType(header: string | undefined): MIMEType | undefined {
  try {
    return new MIMEType(header ?? '');
  } catch {
    return undefined;
  }
}

/** Decodes UTF-8 without its byte order mark. @returns `undefined` if it is malformed. */
function decode(body: Buffer): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}

/** Whether a body has a content encoding. None is supported. */
function isEncoded({ headers }: FastifyRequest): boolean {
  return !/^(identity)?$/i.test(headers['content-encoding'] ?? '');
}

function encoded(): GatewayError {
  return invalid('Send the body without "Content-Encoding": compressed bodies are not supported.');
}

function hasBody(headers: FastifyRequest['headers']): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) !== 0;
}

function needsNoBody({ routeOptions }: FastifyRequest, body: string | Buffer): boolean {
  return body.length === 0 && routeOptions.config.emptyBody === true;
}
