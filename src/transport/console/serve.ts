import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { REDIRECTS, ROWS } from '../../console/screens.ts';
import { pageHeaders } from '../page-headers.ts';
import type { Limiter } from '../rate-limit.ts';
import { createSharedText } from '../shared-text.ts';
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

/**
 * Serves the console's page at its addresses, and its precompressed files at `/assets`. Browsers revalidate the page
 * and may cache the files forever, because each file's name contains a hash of its content. All of them count against
 * the limit of files of an address.
 *
 * @throws StartupError if the console has not been built.
 */
export async function serveConsole(app: FastifyInstance, { limiter }: { limiter: Limiter }) {
  const page = readConsoleFile('index.html');
  const sendPage = createSharedText(() => page, pageHeaders());
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
