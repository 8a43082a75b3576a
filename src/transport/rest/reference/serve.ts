import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { pageHeaders } from '../../page-headers.ts';
import type { Limiter } from '../../rate-limit.ts';
import { assertAdmitted } from '../../request-admission.ts';
import { createSharedText } from '../../shared-text.ts';
import { describeApi } from '../openapi/document.ts';
import type { Route } from '../route.ts';
import { renderPage } from './page.ts';

type Options = {
  /** The routes to describe. */
  routes: readonly Route[];
  limiter: Limiter;
  /** The URL of this server in the document and the examples. Unknown: `/v1`, and the origin of the page. */
  publicUrl: string | undefined;
};

/**
 * Serves the OpenAPI document at `/v1/openapi.json` and the reference page at `/docs`. Both are public: a request
 * without a key counts 1 against the limit of the client address. Both are rendered on the first request.
 */
export async function serveReference(
  app: FastifyInstance,
  { routes, limiter, publicUrl }: Options,
) {
  let made: ReturnType<typeof describeApi> | undefined;
  const description = () => {
    made ??= describeApi(routes, publicUrl);
    return made;
  };
  const sendDescription = createSharedText(() => JSON.stringify(description()), {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-cache',
  });
  app.get('/v1/openapi.json', { config: { keyless: true } }, sendDescription);

  const files = {
    style: serveFile(app, limiter, 'reference.css', 'text/css; charset=utf-8'),
    script: serveFile(app, limiter, 'reference.js', 'text/javascript; charset=utf-8'),
  };
  const sendPage = createSharedText(
    () => renderPage(description(), files, publicUrl),
    pageHeaders(),
  );
  app.get('/docs', async (request, reply) => {
    assertAdmitted(await limiter.admit(request, reply), true);
    return sendPage(request, reply);
  });
}

/** Serves a file with immutable caching, at a path with a hash of its content. @returns the path, relative to `/`. */
function serveFile(app: FastifyInstance, limiter: Limiter, name: string, type: string): string {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  const path = `docs/assets/${hash('sha256', text).slice(0, 16)}-${name}`;
  const send = createSharedText(() => text, {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  app.get(`/${path}`, { onRequest: limiter.admitFile }, send);
  return path;
}
