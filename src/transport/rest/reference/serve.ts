import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { pageHeaders } from '../../page-headers.ts';
import { assertAdmitted, type Limiter } from '../../rate-limit.ts';
import { createSharedText } from '../../shared-text.ts';
import { describeApi } from '../openapi/document.ts';
import { renderPage } from './page.ts';

type Options = {
  limiter: Limiter;
  /** The address of this server in the examples; by default the page puts in its own. */
  publicUrl: string | undefined;
};

/**
 * The description of the REST interface, for programs at `/v1/openapi.json` and for people at `/docs`. Neither holds
 * a secret, and neither needs a key: without one each counts 1 against the address. Each is made when it is first asked for.
 */
export async function serveReference(app: FastifyInstance, { limiter, publicUrl }: Options) {
  let made: ReturnType<typeof describeApi> | undefined;
  const description = () => {
    made ??= describeApi();
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

/** Serves a file of the page for good, at an address that changes with its content. @returns that address, below `/`. */
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
