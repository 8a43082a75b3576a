import type { FastifyRequest } from 'fastify';
import { framePage } from '../../console/page-frame.ts';
import { html } from '../../html.ts';
import { pageHeaders } from '../../page-headers.ts';
import type { Limiter } from '../../rate-limit.ts';
import { assertAdmitted } from '../../request-admission.ts';
import { createSharedText, type SendText } from '../../shared-text.ts';
import { findGraphiQLFiles, type GraphiQLFiles } from './files.ts';

const FIRST_QUERY = `# Operations run with the key that you signed in with.
# Not signed in? Put an API key into the headers below.

mutation Chat {
  chat(
    botId: "demo"
    input: {
      message: "Hello!"
      sessionId: "user-1"
    }
  ) {
    response
    runId
    latencyMs
    tokensUsed
  }
}

subscription ChatStream {
  chat(
    botId: "demo"
    input: {
      message: "Hello!"
      sessionId: "user-1"
    }
  ) {
    __typename
    ... on TextDelta { delta }
    ... on ChatDone { runId tokensUsed }
    ... on ChatFailed { code message }
  }
}

query Viewer {
  viewer {
    account { name plan }
    apiKey { name scopes }
  }
  bots { edges { node { id name } } }
}
`;

const FIRST_HEADERS = '{ "Authorization": "Bearer <API_KEY>" }';

/** Whether a request to `/graphql` is a browser's request for the page. */
export function isPageRequest({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && headers.accept?.includes('text/html') === true;
}

/**
 * Serves the GraphiQL page. A request for it counts 1 and needs no key. The page keeps a typed key only in memory.
 *
 * @throws StartupError if GraphiQL's files have not been generated.
 */
export function createGraphiQLPage(limiter: Limiter): SendText {
  const page = renderPage(findGraphiQLFiles());
  const send = createSharedText(() => page, HEADERS);
  return async (request, reply) => {
    assertAdmitted(await limiter.admit(request, reply), true);
    return send(request, reply);
  };
}

const HEADERS = {
  ...pageHeaders({ 'style-src': "'self' 'unsafe-inline'", 'worker-src': "'self'" }),
  // The same URL serves GraphQL to other clients.
  vary: 'Accept',
};

function renderPage({ script, style, ...workers }: GraphiQLFiles): string {
  const path = (file: string) => `graphql/assets/${file}`;
  return framePage({
    screen: 'graphiql',
    head: html`<link rel="stylesheet" href="${path(style)}">
<script defer src="${path(script)}"></script>`,
    actions: html`<p id="credential" class="soft cut" role="status"></p>`,
    content: html`<noscript>GraphiQL needs JavaScript.</noscript>
<div id="root" data-query="${FIRST_QUERY}" data-headers="${FIRST_HEADERS}"
data-editor-worker="${path(workers.editorWorker)}" data-json-worker="${path(workers.jsonWorker)}"
data-graphql-worker="${path(workers.graphqlWorker)}"></div>`,
  });
}
