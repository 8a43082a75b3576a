import { MIMEType } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '../errors/errors.ts';
import type { Bodies } from './bodies.ts';
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
 * Makes a server accept JSON bodies, and texts where the route accepts them, in UTF-8 and within the limits of their
 * sender. A body of another type is not read.
 */
export function readBodies(app: FastifyInstance, bodies: Bodies, limiter: Limiter): void {
  app.addHook('preParsing', async ({ raw, routeOptions, headers }) => {
    // Without a body the content type is meaningless, so Fastify must not check it.
    if (!bodies.of(raw) && routeOptions.config.emptyBody) delete headers['content-type'];
  });

  /** @returns the body; `undefined` if the route needs none and it is empty. */
  const read = async (request: FastifyRequest, check: () => void): Promise<Buffer | undefined> => {
    const { emptyBody } = request.routeOptions.config;
    if (!emptyBody) check();
    const body = await bodies.of(request.raw)?.read(await limiter.bodyLimits(request));
    if (emptyBody && !body?.length) return undefined;
    check();
    return body ?? Buffer.alloc(0);
  };

  const defaultParser = app.getDefaultJsonParser('error', 'error');
  const parseJson = (request: FastifyRequest, text: string) =>
    new Promise<unknown>((resolve, reject) => {
      defaultParser(request, text, (error, value) => (error ? reject(error) : resolve(value)));
    });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const body = await read(request, () => assertPlain(request));
    if (!body) return undefined;
    const text = decode(body);
    if (text === undefined) throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
    return parseJson(request, text);
  });
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const body = await read(request, () => fieldOf(request));
    return body && readText(body, fieldOf(request));
  });
}

/**
 * The field whose value a text body is.
 *
 * @throws GatewayError `invalid_request` if the route accepts no such text.
 */
function fieldOf(request: FastifyRequest): string {
  const { textBody } = request.routeOptions.config;
  const type = readType(request.headers['content-type']);
  if (!textBody || !type || !textBody.types.includes(type.essence)) {
    const types = ['application/json', ...(textBody?.types ?? [])];
    throw invalid(`Send the body as "Content-Type: ${types.join('" or "')}".`);
  }
  assertPlain(request);
  // US-ASCII is a part of UTF-8.
  if (!/^(utf-?8|us-ascii)$/i.test(type.params.get('charset') ?? 'utf-8')) {
    throw invalid('Send the text in UTF-8, without another charset in "Content-Type".');
  }
  return textBody.field;
}

/**
 * Reads a text as a JSON object with one field. An empty text is an absent field.
 *
 * @throws GatewayError `invalid_request`
 */
function readText(body: Buffer, field: string): Record<string, string> {
  const text = decode(body);
  if (text === undefined) throw invalid('The body is not valid UTF-8.');
  // Clients that forget the content type of JSON may send `text/plain`. Their secrets must not become a stored text.
  if (/^\s*[{[]/.test(text)) throw invalid('Send JSON as "Content-Type: application/json".');
  return text === '' ? {} : { [field]: text };
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

/** @throws GatewayError `invalid_request` if a body has a content encoding. None is supported. */
function assertPlain({ headers }: FastifyRequest): void {
  if (/^(identity)?$/i.test(headers['content-encoding'] ?? '')) return;
  throw invalid('Send the body without "Content-Encoding": compressed bodies are not supported.');
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}
