import type { FrameLocator, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { updateBot, WEB } from '../channels/web/visitors.ts';
import { assertAccessible } from '../console/page.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';
import { expectProblems } from '../helpers/page-log.ts';
import { type Site, startSite } from '../helpers/site.ts';

/** Rules that break everything that they reach. */
const HOSTILE = `
  * { all: unset !important; display: none !important; transform: scale(0) !important; opacity: 0 !important; }
  html, head, body, body * { display: block !important; }
  parley-chat { position: static !important; visibility: hidden !important; width: 1px !important; }
  button, iframe { font-size: 90px !important; pointer-events: none !important; }`;

let app: TestApp;
let tenant: Tenant;
let bot: string;
let shop: Site;
/** Another site than the app's, so that the browser keeps their storage apart. */
let origin: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  shop = await startSite();
  atTheEnd(() => shop.close());
  origin = `http://localhost:${shop.port}`;
});

beforeEach(async () => {
  bot = await tenant.bot(WEB);
  await updateBot(tenant, bot, { webOrigins: [origin] });
});

type Shop = {
  page: Page;
  chat: FrameLocator;
  /** The browser's warnings and errors. */
  log: string[];
};

/** Opens a page of the shop with the widget. @param attributes data attributes of the script's element. */
async function openShop(
  attributes: Record<string, string> = {},
  { style = '', viewport = { width: 1_280, height: 800 }, isChecked = false } = {},
): Promise<Shop> {
  const options = Object.entries({ 'data-bot': bot, 'data-label': 'Ask us', ...attributes });
  const data = options.map(([name, value]) => `${name}="${value}"`).join(' ');
  shop.handle(({ url }, response) => {
    if (url === '/style.css') return response.setHeader('content-type', 'text/css').end(style);
    if (url === '/favicon.ico') return response.writeHead(204).end();
    response.setHeader('content-type', 'text/html');
    response.setHeader(
      'content-security-policy',
      `default-src 'self'; frame-src ${app.url}; script-src ${app.url}`,
    );
    return response.end(
      `<!doctype html><html lang="en"><title>Shop</title><link rel="stylesheet" href="/style.css"><body><main><h1>Shop</h1></main><script src="${app.url}/widget.js" ${data} async></script></body></html>`,
    );
  });
  // The policy forbids the script of the accessibility check.
  const page = await openBlankPage({ viewport, bypassCSP: isChecked });
  const log: string[] = [];
  page.on('console', (message) => log.push(message.text()));
  page.on('pageerror', ({ message }) => log.push(message));
  await page.goto(origin);
  return { page, chat: page.frameLocator('parley-chat iframe'), log };
}

const open = ({ page }: Shop) => page.getByRole('button', { name: 'Ask us' }).click();

const sayIn = async ({ chat, page }: Shop, message: string) => {
  await chat.getByLabel('Message').fill(message);
  // A message that is sent while a reply is open waits in the field.
  await chat.getByRole('button', { name: 'Send', exact: true }).waitFor();
  await page.keyboard.press('Enter');
};

describe('the widget', () => {
  browserTest(
    'chats in a page of another site under a strict policy, and logs nothing',
    async () => {
      const opened = await openShop();
      await open(opened);
      await opened.chat.getByRole('button', { name: 'Where is my order?' }).click();
      await opened.chat.getByText('Hello there.').first().waitFor();
      const run = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
      expect([run.channel, run.sessionId?.slice(0, 4)]).toEqual(['WEB', 'web:']);
      expect(opened.log).toEqual([]);
    },
  );

  browserTest(
    'remembers the conversation in a browser that blocks the storage of frames',
    async () => {
      const opened = await openShop();
      await open(opened);
      await opened.chat.getByRole('button', { name: 'Where is my order?' }).click();
      await opened.chat.getByText('Hello there.').first().waitFor();
      await opened.page.reload();
      await open(opened);
      await opened.chat.getByText('Hello there.').first().waitFor();
      await sayIn(opened, 'Again');
      await expect.poll(() => app.prisma.run.count({ where: { botId: bot } })).toBe(2);
      expect(await app.prisma.session.count({ where: { botId: bot } })).toBe(1);
    },
  );

  browserTest('opens and closes with the keyboard, and keeps the focus', async () => {
    const opened = await openShop();
    const { page, chat } = opened;
    const focused = () =>
      page.evaluate(
        () => document.querySelector('parley-chat')?.shadowRoot?.activeElement?.tagName,
      );
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('BUTTON');
    await page.keyboard.press('Enter');
    await chat.getByText('Ask me about an order.').waitFor();
    await expect.poll(focused).toBe('IFRAME');
    await page.evaluate(() => window.parley?.open());
    await chat.getByRole('button', { name: 'Close the chat' }).press('Escape');
    await expect.poll(focused).toBe('BUTTON');
    expect(await page.locator('parley-chat iframe').isVisible()).toBe(false);
  });

  browserTest.for([320, 768, 1_280])('is accessible at %i pixels', async (width) => {
    const opened = await openShop({}, { viewport: { width, height: 700 }, isChecked: true });
    // The accessibility check asks the frame of the other site for its result.
    expectProblems(opened.page, /^Failed to execute 'postMessage'/);
    await opened.page.getByRole('button', { name: 'Ask us' }).waitFor();
    await assertAccessible(opened.page);
    await open(opened);
    await opened.chat.getByText('Ask me about an order.').waitFor();
    const panel = await opened.page.locator('parley-chat .panel').boundingBox();
    await assertAccessible(opened.page);
    expect(panel && panel.x >= 0 && panel.x + panel.width <= width).toBe(true);
  });

  browserTest('cannot be broken by the style sheets of the page', async () => {
    const opened = await openShop({ 'data-position': 'left' }, { style: HOSTILE });
    const launcher = opened.page.getByRole('button', { name: 'Ask us' });
    await launcher.waitFor();
    const button = await launcher.boundingBox();
    expect(button).toMatchObject({ x: 20, height: 48 });
    await open(opened);
    await opened.chat.getByRole('button', { name: 'Where is my order?' }).click();
    await opened.chat.getByText('Hello there.').first().waitFor();
    const panel = await opened.page.locator('parley-chat .panel').boundingBox();
    expect(panel).toMatchObject({ x: 20, width: 400, height: 640 });
  });

  browserTest('has a JavaScript interface', async () => {
    const opened = await openShop();
    const { page, chat } = opened;
    await page.getByRole('button', { name: 'Ask us' }).waitFor();
    await page.evaluate(() => {
      const heard: object[] = [];
      Object.assign(window, { heard });
      window.parley?.on('message', (message) => heard.push(message));
      window.parley?.open();
    });
    await chat.getByText('Ask me about an order.').waitFor();
    await sayIn(opened, 'Hi');
    await expect
      .poll(() => page.evaluate(() => (window as unknown as { heard: object[] }).heard))
      .toEqual([
        { role: 'user', text: 'Hi' },
        { role: 'assistant', text: 'Hello there.', runId: expect.stringMatching(/^run_/) },
      ]);
    await page.evaluate(() => window.parley?.close());
    expect(await page.locator('parley-chat iframe').isVisible()).toBe(false);
  });

  browserTest('ignores messages of other windows', async () => {
    const opened = await openShop();
    await open(opened);
    await opened.chat.getByText('Ask me about an order.').waitFor();
    await opened.page.evaluate(() => postMessage({ parley: { type: 'close' } }, '*'));
    await sayIn(opened, 'Still open');
    await opened.chat.getByText('Hello there.').first().waitFor();
  });

  browserTest('takes the token of a known user from the owner’s backend', async () => {
    const opened = await openShop({ 'data-token-url': '/token' });
    const { data } = await tenant.graphql(
      `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "ada", channel: WEB }) { token } }`,
    );
    shop.handle(({ url }, response) =>
      url === '/token'
        ? response
            .setHeader('content-type', 'application/json')
            .end(JSON.stringify({ token: data.createSessionToken.token }))
        : response.end(),
    );
    await open(opened);
    await opened.chat.getByText('Ask me about an order.').waitFor();
    await sayIn(opened, 'Hi');
    await opened.chat.getByText('Hello there.').first().waitFor();
    const run = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
    expect([run.channel, run.sessionId]).toEqual(['WEB', 'ada']);
    await opened.chat.getByRole('button', { name: 'Conversation' }).click();
    expect(await opened.chat.getByRole('menuitem').allInnerTexts()).toEqual([
      'Forget this conversation…',
    ]);
  });

  browserTest.for([
    ['a wrong bot', { 'data-bot': 'no-such-bot' }],
    ['a bot that does not list the origin', {}],
  ] as const)('shows a plain state for %s', async ([, attributes]) => {
    await updateBot(tenant, bot, { webOrigins: ['https://other.example'] });
    const opened = await openShop(attributes);
    expectProblems(opened.page, /^Framing .* violates .* "frame-ancestors/);
    await open(opened);
    await opened.page.getByText('The chat is not available here.').waitFor();
    await opened.page.getByRole('button', { name: 'Close' }).click();
    await opened.page.getByRole('button', { name: 'Ask us' }).waitFor();
  });
});

declare global {
  interface Window {
    parley?: {
      open(): void;
      close(): void;
      on(event: 'message', listener: (message: object) => void): () => void;
    };
  }
}
