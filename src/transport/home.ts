import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';
import { VERSION } from '../version.ts';
import { html } from './html.ts';
import { pageHeaders } from './page-headers.ts';
import { assertAdmitted, type Limiter } from './rate-limit.ts';
import { createSharedText } from './shared-text.ts';

/** Relative to `/`, so that they also work below a path of a proxy. */
const LINKS = [
  { path: 'docs', what: 'the REST API: read it, and try it with a key' },
  { path: 'graphql', what: 'the GraphQL API, and its playground GraphiQL' },
  { path: 'v1/openapi.json', what: 'the OpenAPI document of the REST API' },
  { path: 'healthz', what: 'whether this server is alive, and its version' },
];

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}
@media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#8bf}}`;

/** Serves `/`: a page for people, JSON for other clients. It needs no key and counts 1 against the client's address. */
export async function serveHome(app: FastifyInstance, { limiter }: { limiter: Limiter }) {
  const sendPage = createSharedText(renderPage, {
    ...pageHeaders({
      'script-src': "'none'",
      'style-src': `'sha256-${hash('sha256', STYLE, 'base64')}'`,
    }),
  });
  const sendJson = createSharedText(renderJson, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-cache',
  });
  app.get('/', async (request, reply) => {
    assertAdmitted(await limiter.admit(request, reply), true);
    const [preferred] = new Negotiator(request.raw).mediaTypes(['application/json', 'text/html']);
    reply.header('vary', 'Accept');
    return preferred === 'text/html' ? sendPage(request, reply) : sendJson(request, reply);
  });
}

function renderJson(): string {
  const links = Object.fromEntries(LINKS.map(({ path }) => [path, `/${path}`]));
  return JSON.stringify({ name: 'Parley', version: VERSION, links });
}

function renderPage(): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
<link rel="icon" href="data:,">
<style>${{ html: STYLE }}</style>
</head>
<body>
<h1>Parley</h1>
<p>This server hosts conversational agents. Version ${VERSION}.</p>
<ul>
${LINKS.map(({ path, what }) => html`<li><a href="${path}">/${path}</a>: ${what}</li>\n`)}
</ul>
</body>
</html>
`.html;
}
