import { hash } from 'node:crypto';
import type { BrowserContextOptions, FrameLocator, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { updateBot, WEB } from '../channels/web/visitors.ts';
import { assertAccessible } from '../console/page.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { approvalOf, decide, requestAndRepeat } from '../helpers/approvals.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';
import { expectProblems } from '../helpers/page-log.ts';
import { type Site, startSite } from '../helpers/site.ts';
import { hello, replyInTwoParts } from '../helpers/upstream.ts';

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
/** How far the clock of the tokens is ahead, in milliseconds. */
let ahead = 0;
beforeAll(async () => {
  shop = await startSite();
  atTheEnd(() => shop.close());
  app = await startApp({ clock: () => Date.now() + ahead, allowedHosts: [shop.host] });
  tenant = await app.tenant();
  origin = `http://localhost:${shop.port}`;
});

beforeEach(async () => {
  bot = await tenant.bot(WEB);
  await updateBot(tenant, bot, { webOrigins: [origin] });
  app.upstream.script(hello);
});

type Shop = {
  page: Page;
  chat: FrameLocator;
  /** The browser's warnings and errors. */
  log: string[];
};

type ShopOptions = BrowserContextOptions & {
  /** The style sheet of the shop. */
  style?: string;
  /** Whether the accessibility of the page is checked. */
  isChecked?: boolean;
  /** Whether the test can move the page's clock. */
  hasClock?: boolean;
};

/** Opens a page of the shop with the widget. @param attributes data attributes of the script's element. */
async function openShop(
  attributes: Record<string, string> = {},
  { style = '', isChecked = false, hasClock = false, ...browserOptions }: ShopOptions = {},
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
  const viewport = { width: 1_280, height: 800 };
  const page = await openBlankPage({ viewport, bypassCSP: isChecked, ...browserOptions });
  const log: string[] = [];
  page.on('console', (message) => log.push(message.text()));
  page.on('pageerror', ({ message }) => log.push(message));
  if (hasClock) await page.clock.install();
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

/** Opens the shop for a user whom its backend knows. @param token parameters of the backend's tokens. */
async function openKnownUser(token: { expiresIn?: number } = {}): Promise<Shop> {
  const opened = await openShop({ 'data-token-url': '/token' });
  shop.handle(async ({ url }, response) => {
    if (url !== '/token') return response.end();
    const { data } = await tenant.graphql(
      `mutation ($input: CreateSessionTokenInput!) { createSessionToken(input: $input) { token } }`,
      { input: { botId: bot, sessionId: 'ada', channel: 'WEB', ...token } },
    );
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(data.createSessionToken));
  });
  return opened;
}

const tokenRequests = () => shop.requests.filter(({ url }) => url === '/token');

/** Deploys a tool that needs approval, and a model that requests it and repeats the outcome. */
const deployRefund = async () => {
  bot = await tenant.bot(`channel web
    tools orders { capability refund "Refunds an order." { approval post "${shop.origin}/refunds" } }`);
  await updateBot(tenant, bot, { webOrigins: [origin] });
  requestAndRepeat(app, ['orders_refund', {}]);
};

const WAITS = 'A person must approve this. The answer appears here.';

/** Requests the refund, and marks the document of the chat. */
const waitInChat = async (opened: Shop) => {
  await open(opened);
  await sayIn(opened, 'Refund it');
  await opened.chat.getByText(WAITS).waitFor();
  await opened.chat.locator('html').evaluate((root) => root.setAttribute('data-marked', ''));
};

/** Expects a text in a reply of a chat that was not loaded again since it waited. */
const expectOutcome = async ({ chat }: Shop, text: string) => {
  await chat.locator('.message-reply p').filter({ hasText: text }).waitFor();
  await expect.poll(() => chat.getByText(WAITS).count()).toBe(0);
  expect(await chat.locator('html').getAttribute('data-marked')).toBe('');
};

type Heard = { role: string; text: string; runId: string };

/** Listens to the widget's messages. @returns a function that reads what was heard. */
const listen = async ({ page }: Shop) => {
  await page.getByRole('button', { name: 'Ask us' }).waitFor();
  await page.evaluate(() => {
    const heard: object[] = [];
    Object.assign(window, { heard });
    window.parley?.on('message', (message) => heard.push(message));
  });
  return () => page.evaluate(() => (window as unknown as { heard: Heard[] }).heard);
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

  browserTest(
    'has the accent of its line, then the accent of the definition, and a checked hash',
    async () => {
      bot = await tenant.bot('channel web { accent "#403CBF" }');
      await updateBot(tenant, bot, { webOrigins: [origin] });
      const script = Buffer.from(await (await fetch(`${app.url}/widget.js`)).arrayBuffer());
      const attributes = {
        'data-accent': '#c2185b',
        integrity: `sha384-${hash('sha384', script, 'base64')}`,
        crossorigin: 'anonymous',
      };
      const shown = await openShop(attributes, { colorScheme: 'light' });
      const color = () =>
        shown.page
          .getByRole('button', { name: 'Ask us' })
          .evaluate((element) => getComputedStyle(element).backgroundColor);
      await expect.poll(color).toBe('rgb(194, 24, 91)');
      await open(shown);
      await shown.page.mouse.move(1, 1);
      await expect.poll(color).toBe('rgb(64, 60, 191)');
      expect(shown.log).toEqual([]);
    },
  );

  browserTest('opens and closes with the keyboard, and keeps the focus', async () => {
    const opened = await openShop();
    const { page, chat } = opened;
    const focused = () =>
      page.evaluate(
        () => document.querySelector('parley-chat')?.shadowRoot?.activeElement?.tagName,
      );
    await page.getByRole('button', { name: 'Ask us' }).waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(focused).toBe('BUTTON');
    await page.keyboard.press('Enter');
    await chat.getByText('Ask me about an order.').waitFor();
    await expect.poll(focused).toBe('IFRAME');
    await page.evaluate(() => window.parley?.open());
    await chat.getByRole('button', { name: 'Close the chat' }).press('Escape');
    await expect.poll(focused).toBe('BUTTON');
    await expect.poll(() => page.locator('parley-chat iframe').isVisible()).toBe(false);
  });

  browserTest.for([320, 768, 1_280])('is accessible at %i pixels', async (width) => {
    const opened = await openShop({}, { viewport: { width, height: 700 }, isChecked: true });
    // The accessibility check asks the frame of the other site for its result.
    expectProblems(opened.page, /^Failed to execute 'postMessage'/);
    await opened.page.getByRole('button', { name: 'Ask us' }).waitFor();
    await assertAccessible(opened.page);
    await open(opened);
    await opened.chat.getByText('Ask me about an order.').waitFor();
    const panel = opened.page.locator('parley-chat .panel');
    await assertAccessible(opened.page);
    await expect
      .poll(async () => {
        const box = await panel.boundingBox();
        return box && box.x >= 0 && box.x + box.width <= width;
      })
      .toBe(true);
  });

  browserTest('cannot be broken by the style sheets of the page', async () => {
    const opened = await openShop({ 'data-position': 'left' }, { style: HOSTILE });
    const launcher = opened.page.getByRole('button', { name: 'Ask us' });
    await expect.poll(() => launcher.boundingBox()).toMatchObject({ x: 20, height: 48 });
    await open(opened);
    await opened.chat.getByRole('button', { name: 'Where is my order?' }).click();
    await opened.chat.getByText('Hello there.').first().waitFor();
    const panel = opened.page.locator('parley-chat .panel');
    await expect.poll(() => panel.boundingBox()).toMatchObject({ x: 20, width: 400, height: 640 });
  });

  browserTest('has a JavaScript interface', async () => {
    const opened = await openShop();
    const { page, chat } = opened;
    const heard = await listen(opened);
    await page.evaluate(() => window.parley?.open());
    await chat.getByText('Ask me about an order.').waitFor();
    await sayIn(opened, 'Hi');
    const runId = expect.stringMatching(/^run_/);
    await expect.poll(heard).toEqual([
      { role: 'user', text: 'Hi', runId },
      { role: 'assistant', text: 'Hello there.', runId },
    ]);
    expect(new Set((await heard()).map((message) => message.runId)).size).toBe(1);
    await page.evaluate(() => window.parley?.close());
    await expect.poll(() => page.locator('parley-chat iframe').isVisible()).toBe(false);
  });

  browserTest('tells the page of no reply that fails', async () => {
    app.upstream.script(({ say, cut }) => {
      say('Half of');
      cut();
    });
    const opened = await openShop();
    const heard = await listen(opened);
    await open(opened);
    await sayIn(opened, 'Hi');
    await opened.chat.getByRole('alert').waitFor();
    app.upstream.script(hello);
    await opened.chat.getByRole('button', { name: 'Try again' }).click();
    await expect
      .poll(async () => (await heard()).map(({ role, text }) => [role, text]))
      .toEqual([
        ['user', 'Hi'],
        ['user', 'Hi'],
        ['assistant', 'Hello there.'],
      ]);
    const [failed, again, reply] = (await heard()).map(({ runId }) => runId);
    expect(again).not.toBe(failed);
    expect(reply).toBe(again);
  });

  browserTest.for([
    ['dark', 'light', 'rgb(87, 211, 185)'],
    ['light', 'dark', 'rgb(11, 110, 95)'],
  ] as const)('is %s by its option on a %s system', async ([theme, colorScheme, colour]) => {
    const opened = await openShop({ 'data-theme': theme }, { colorScheme });
    const launcher = opened.page.getByRole('button', { name: 'Ask us' });
    const background = (element: Element) => getComputedStyle(element).backgroundColor;
    await expect.poll(() => launcher.evaluate(background)).toBe(colour);
    await open(opened);
    await opened.chat.getByText('Ask me about an order.').waitFor();
    const root = opened.chat.locator('html');
    await expect
      .poll(() => root.evaluate((element) => getComputedStyle(element).colorScheme))
      .toBe(theme);
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
    const opened = await openKnownUser();
    await opened.page.context().addCookies([{ name: 'user', value: 'ada', url: origin }]);
    await open(opened);
    await opened.chat.getByText('Ask me about an order.').waitFor();
    await sayIn(opened, 'Hi');
    await opened.chat.getByText('Hello there.').first().waitFor();
    const run = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
    expect([run.channel, run.sessionId]).toEqual(['WEB', 'ada']);
    expect(tokenRequests().at(-1)?.headers.cookie).toBe('user=ada');
    await opened.chat.getByRole('button', { name: 'Conversation' }).click();
    await expect
      .poll(() => opened.chat.getByRole('menuitem').allInnerTexts())
      .toEqual(['Forget this conversation…']);
  });

  browserTest('replaces the expired token of a known user silently', async () => {
    const release = replyInTwoParts(app.upstream);
    const opened = await openKnownUser({ expiresIn: 60 });
    await open(opened);
    await sayIn(opened, 'Hi');
    await opened.chat.getByText('The first part').waitFor();
    const requests = tokenRequests().length;
    ahead += 90_000;
    await expect.poll(() => tokenRequests().length).toBeGreaterThan(requests);
    release();
    await opened.chat.getByText('The first part and the second.').first().waitFor();

    app.upstream.script(({ say }) => say('A long reply'));
    await sayIn(opened, 'Again');
    await opened.chat.getByText('A long reply').waitFor();
    ahead += 90_000;
    await opened.chat.getByRole('button', { name: 'Stop' }).click();
    await opened.chat.getByText('Stopped.', { exact: true }).waitFor();
    const statuses = async () => {
      const where = { botId: bot };
      const runs = await app.prisma.run.findMany({ where, orderBy: { createdAt: 'asc' } });
      return runs.map(({ status }) => status);
    };
    await expect.poll(statuses).toEqual(['COMPLETED', 'CANCELLED']);
  });

  browserTest('shows a visitor the outcome of an approved call without a reload', async () => {
    await deployRefund();
    const opened = await openShop();
    const heard = shop.requests.length;
    await waitInChat(opened);
    shop.handle((_request, response) => response.end('Refund no. 77.'));
    const { id } = await approvalOf(app, bot);
    const decision = await fetch(`${app.url}/v1/bots/${bot}/approvals/${id}/decision`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'approve' }),
    });
    expect(decision.status).toBe(200);
    await expectOutcome(opened, 'Its result: Refund no. 77.');
    expect(shop.requests.slice(heard).map(({ method, url }) => [method, url])).toEqual([
      ['POST', '/refunds'],
    ]);
  });

  browserTest('shows a known user the outcome of a denied call without a reload', async () => {
    await deployRefund();
    const opened = await openKnownUser();
    await waitInChat(opened);
    const { id } = await approvalOf(app, bot);
    expect(await decide(app, tenant, id, 'DENY', { note: 'Too late.' })).toBeUndefined();
    await expectOutcome(opened, 'Too late.');
  });

  browserTest('does not warn of a chat that nobody has opened', async () => {
    const opened = await openShop({}, { hasClock: true });
    await opened.page.getByRole('button', { name: 'Ask us' }).waitFor();
    await opened.page.clock.runFor(10_000);
    expect(opened.log.filter((line) => line.startsWith('Parley: '))).toEqual([]);
    await open(opened);
    await opened.chat.getByLabel('Message').waitFor();
  });

  browserTest.for([
    ['a wrong bot', { 'data-bot': 'no-such-bot' }],
    ['a bot that does not list the origin', {}],
  ] as const)('shows a plain state for %s', async ([, attributes]) => {
    await updateBot(tenant, bot, { webOrigins: ['https://other.example'] });
    const opened = await openShop(attributes);
    expectProblems(opened.page, /^Framing .* violates .* "frame-ancestors|^Parley: /);
    const warnings: string[] = [];
    opened.page.on('console', (message) => {
      // A slow browser warns of other things too.
      if (message.text().startsWith('Parley: ')) warnings.push(message.text());
    });
    await open(opened);
    await opened.page.getByText('The chat is not available here.').waitFor();
    const { origin } = new URL(opened.page.url());
    const name = 'data-bot' in attributes ? attributes['data-bot'] : bot;
    await expect
      .poll(() => warnings)
      .toEqual([
        `Parley: the chat of the bot "${name}" does not open in this page. Does the bot exist, and does "Pages that may contain the chat" in the console list ${origin}?`,
      ]);
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
