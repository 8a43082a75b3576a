import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { FindVisited } from '../../accounts/visitors.ts';
import type { ChatPage, ChatPages } from '../../channels/web/chat-pages.ts';
import { logoUrlOf } from '../../channels/web/logos.ts';
import { readConsoleFile } from '../console/files.ts';
import { html } from '../html.ts';
import { pageHeaders } from '../page-headers.ts';
import type { Limiter } from '../rate-limit.ts';
import { createSharedText, type SharedText, sendText, shareText } from '../shared-text.ts';
import { nothingHere } from './origin.ts';

type Options = {
  findVisited: FindVisited;
  chatPages: Pick<ChatPages, 'find'>;
  limiter: Limiter;
};

/** The bytes of all cached pages. One page has less than 30 KiB. */
const CACHE_BYTES = 16 * 1024 * 1024;

/** The widget's address never changes, so browsers ask for a new version after five minutes. */
const WIDGET_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'public, max-age=300, stale-while-revalidate=86400',
  'cross-origin-resource-policy': 'cross-origin',
  // Browsers compare a script with its hash only if they may read it.
  'access-control-allow-origin': '*',
};

/**
 * Serves the chat pages of bots at `/chat/:bot`, and the widget at `/widget.js`. The page of a bot without the web channel
 * is the page for an unknown bot, and counts as a refused request of its address too. A page is rendered once for a deployment, its logo and its
 * `webOrigins`, and browsers revalidate it. Both count against the limit of files of an address.
 *
 * @throws StartupError if the console has not been built.
 */
export async function serveChatPages(
  app: FastifyInstance,
  { findVisited, chatPages, limiter }: Options,
) {
  const template = readConsoleFile('hosted/chat.html');
  const missing = missingPage(template);
  const pages = new LRUCache<string, SharedText>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ plain }, key) => plain.length + key.length,
  });
  const widget = readConsoleFile('widget/widget.js');
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    await limiter.admitFile(request);
  });

  app.get<{ Params: { bot: string } }>('/chat/:bot', async (request, reply) => {
    const { bot: botId } = request.params;
    const visited = await findVisited(botId, await limiter.admitLookup(request));
    const page = visited && (await chatPages.find([botId])).get(botId);
    if (!page) {
      const refusal = await limiter.refuse(request, nothingHere());
      if (refusal.code !== 'not_found') throw refusal;
      return reply.code(404).headers(headersFor([])).send(missing);
    }
    const headers = headersFor(visited.bot.webOrigins);
    const logo = logoUrlOf(visited.bot);
    const key = `${page.deploymentId} ${logo} ${headers['content-security-policy']}`;
    const rendered = pages.get(key) ?? shareText(fill(template, botId, { ...page, logo }), headers);
    pages.set(key, rendered);
    return sendText(rendered, request, reply, { compressed: false });
  });

  app.get(
    '/widget.js',
    createSharedText(() => widget, WIDGET_HEADERS),
  );
}

/** The page loads only this server's files, and only pages of these origins may contain it. */
function headersFor(webOrigins: string[]) {
  const ancestors = webOrigins.includes('*') ? '*' : webOrigins.join(' ');
  return pageHeaders({ 'img-src': "'self'", 'frame-ancestors': ancestors || "'none'" });
}

/** Writes the content of the page into its template. */
function fill(
  template: string,
  bot: string,
  { title, accent, logo, welcome, suggestions }: ChatPage & { logo: string | undefined },
): string {
  const values: Record<string, string> = {
    bot,
    title,
    page: JSON.stringify({ title, accent, logo, welcome, suggestions }),
  };
  return template.replaceAll(
    /{{(\w+)}}/g,
    (_place, key: string) => html`${values[key] ?? ''}`.html,
  );
}

/** The page of no bot, with the styles and the icon of the chat page. */
function missingPage(template: string): string {
  const links = { html: (template.match(/<link [^>]+>/g) ?? []).join('\n') };
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>No chat here</title>
${links}
</head>
<body>
<main class="chat-missing">
<h1>There is no chat page here</h1>
<p>Check the address. The chat may also have been switched off.</p>
</main>
</body>
</html>
`.html;
}
