import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { isScreen, REDIRECTS, ROWS } from '../../console/screen-addresses.ts';
import { pageHeaders } from '../page-headers.ts';
import type { Limiter } from '../rate-limit.ts';
import { createSharedText, type SendText } from '../shared-text.ts';
import { CONSOLE_DIRECTORY, readConsoleFile } from './files.ts';

/** Patterns for the addresses of all screens, which have the same page. The page itself reports an unknown address below them. */
const VIEWS = new Set(
  [...ROWS.filter(({ isPage }) => !isPage).map(({ path }) => path), ...REDIRECTS.flat()].flatMap(
    (path) => {
      const [, first, ...rest] = path.split('/');
      return [
        ...(rest.every((part) => part.endsWith('?')) ? [`/${first}`] : []),
        ...(rest.length > 0 ? [`/${first}/*`] : []),
      ];
    },
  ),
);

/** Sends the console's page, with the status 404 for an address of no screen. @throws StartupError if it is not built. */
export function createConsolePage(): SendText {
  const page = readConsoleFile('index.html');
  const send = createSharedText(() => page, pageHeaders());
  return (request, reply) => {
    const [address = ''] = request.url.split('?');
    if (!isScreen(address)) reply.code(404);
    return send(request, reply);
  };
}

/**
 * Serves the console's page at its addresses, and its precompressed files at `/assets`. Browsers revalidate the page
 * and may cache the files forever, because each file's name contains a hash of its content. All of them count against
 * the limit of files of an address.
 */
export async function serveConsole(
  app: FastifyInstance,
  { limiter, sendPage }: { limiter: Limiter; sendPage: SendText },
) {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    await limiter.admitFile(request);
  });
  for (const url of VIEWS) app.get(url, sendPage);
  await app.register(fastifyStatic, {
    root: join(CONSOLE_DIRECTORY, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
    index: false,
    decorateReply: false,
  });
}
