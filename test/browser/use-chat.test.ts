import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';
import { type Site, startSite } from '../helpers/site.ts';
import { hello, replyInTwoParts } from '../helpers/upstream.ts';

/** A site of another origin. Its page has the component of the guide, which uses React's `useChat`. */
let shop: Site;
let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  shop = await startSite();
  atTheEnd(shop.close);
  app = await startApp({ allowedOrigins: [shop.origin], allowedHosts: [shop.host] });
  tenant = await app.tenant();
  const script = await bundle(componentOfGuide());
  const page =
    '<!doctype html><title>Shop</title><div id="root"></div><script src="/page.js"></script>';
  shop.handle(({ url }, response) => {
    if (url?.startsWith('/total')) return void response.end('{"total": 42}');
    const isScript = url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : page);
  });
});
beforeEach(() => app.upstream.script(hello));

/** The component of `docs/client.md`, with the address of the test's server and the bot of the page's address. */
function componentOfGuide(): string {
  const guide = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8');
  const [, component = ''] = /```tsx skip\n([\s\S]*?)```/.exec(guide) ?? [];
  expect(component).toContain('useChat');
  return component
    .replace("'http://127.0.0.1:4000'", JSON.stringify(app.url))
    .replace("'demo'", "new URLSearchParams(location.search).get('bot')!");
}

async function bundle(component: string): Promise<string> {
  const client = join(import.meta.dirname, '../../src/client');
  const modules: Record<string, string> = {
    [join(client, 'chat.tsx')]: component,
    [join(client, 'program.tsx')]: `import { createRoot } from 'react-dom/client';
      import { Chat } from './chat.tsx';
      const token = new URLSearchParams(location.search).get('token')!;
      createRoot(document.getElementById('root')!).render(<Chat token={token} />);`,
  };
  const build = await rolldown({
    input: join(client, 'program.tsx'),
    platform: 'browser',
    // A bundle of one page ignores directives such as "use client".
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"production"' }, jsx: 'react-jsx' },
    resolve: { alias: { '@parley/client/ai-sdk': join(client, 'ai-sdk.ts') } },
    plugins: [
      {
        name: 'page',
        resolveId: (id) => {
          const path = id.startsWith('./') ? join(client, id) : id;
          return path in modules ? path : undefined;
        },
        load: (id) => modules[id],
      },
    ],
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  return output[0].code;
}

/** Opens the page with a token of a session. */
async function open(bot: string, sessionId: string): Promise<Page> {
  const { data } = await tenant.graphql(
    'mutation ($input: CreateSessionTokenInput!) { createSessionToken(input: $input) { token } }',
    { input: { botId: bot, sessionId } },
  );
  const { token } = data.createSessionToken;
  const page = await openBlankPage();
  await page.goto(`${shop.origin}/?${new URLSearchParams({ bot, token })}`);
  return page;
}

const ask = async (page: Page, text: string) => {
  await page.getByRole('textbox').fill(text);
  await page.getByRole('textbox').press('Enter');
};

const textsOf = (page: Page) => page.locator('form p').allTextContents();

/** The states of the runs of a bot, oldest first. */
const statesOf = async (botId: string) => {
  const runs = await app.prisma.run.findMany({ where: { botId }, orderBy: { createdAt: 'asc' } });
  return runs.map(({ status }) => status);
};

describe('a page with useChat', () => {
  browserTest('sends messages and shows the replies', async () => {
    const bot = await tenant.bot();
    const page = await open(bot, 'user-1');
    await ask(page, 'Hi');
    await expect.poll(() => textsOf(page)).toEqual(['user: Hi', 'assistant: Hello there.']);
    await ask(page, 'Again');
    await expect
      .poll(() => textsOf(page))
      .toEqual(['user: Hi', 'assistant: Hello there.', 'user: Again', 'assistant: Hello there.']);
    const asked = app.upstream.requests.at(-1)?.body.messages.map(({ content }) => content);
    expect(asked?.slice(-3)).toEqual(['Hi', 'Hello there.', 'Again']);
  });

  browserTest('shows the tool calls of the bot', async () => {
    const bot = await tenant.bot(
      `tools shop { capability total "The total" { get "${shop.origin}/total" } }`,
    );
    app.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role !== 'tool') return call(['shop_total', {}]);
      say('It is 42.');
      end();
    });
    const page = await open(bot, 'user-1');
    await ask(page, 'How much?');
    await expect
      .poll(() => textsOf(page))
      .toEqual(['user: How much?', 'assistant: shop.total: output-availableIt is 42.']);
  });

  browserTest('stops a reply, which keeps its beginning', async () => {
    const bot = await tenant.bot();
    app.upstream.script(async ({ say, closed }) => {
      say('Once upon');
      await closed;
    });
    const page = await open(bot, 'user-1');
    await ask(page, 'A tale');
    await page.getByText('Once upon').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => statesOf(bot)).toEqual(['CANCELLED']);
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await textsOf(page)).toEqual(['user: A tale', 'assistant: Once upon']);
    app.upstream.script(hello);
    await ask(page, 'Go on');
    await page.getByText('Hello there.').waitFor();
  });

  browserTest('continues a reply after a reload in its middle, and in a second tab', async () => {
    const bot = await tenant.bot();
    const page = await open(bot, 'user-1');
    await ask(page, 'Before');
    await page.getByText('Hello there.').waitFor();
    const sendSecond = replyInTwoParts(app.upstream);
    await ask(page, 'Go');
    await page.getByText('The first part').waitFor();
    await page.reload();
    await page.getByText('The first part').waitFor();
    const second = await page.context().newPage();
    await second.goto(page.url());
    await second.getByText('The first part').waitFor();
    sendSecond();
    for (const tab of [page, second])
      await expect
        .poll(() => textsOf(tab))
        .toEqual([
          'user: Before',
          'assistant: Hello there.',
          'user: Go',
          'assistant: The first part and the second.',
        ]);
    expect(await statesOf(bot)).toEqual(['COMPLETED', 'COMPLETED']);
    // Without a running reply, a reload shows the history.
    await second.reload();
    await second.getByText('The first part and the second.').waitFor();
  });

  browserTest('shows an error, and sends the next message', async () => {
    const bot = await tenant.bot();
    app.upstream.script(({ response }) => void response.writeHead(400).end('{}'));
    const page = await open(bot, 'user-1');
    await ask(page, 'Hi');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toMatch(/^.{10,}$/);
    expect(await statesOf(bot)).toEqual(['FAILED']);
    app.upstream.script(hello);
    await ask(page, 'Again');
    await page.getByText('Hello there.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
