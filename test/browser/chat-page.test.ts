import type { BrowserContextOptions, Page, Route } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { say as sendAsVisitor, updateBot, visit } from '../channels/web/visitors.ts';
import { assertAccessible } from '../console/page.ts';
import { startProxy } from '../console/proxy.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';
import { type Site, startSite } from '../helpers/site.ts';
import { replyInTwoParts } from '../helpers/upstream.ts';

const DESK = `
  tools time
  memory { name "The name" }
  channel web {
    welcome "Hi! I am the **order desk**."
    suggestions "Where is my order?", "I want to return something"
  }`;

let app: TestApp;
let tenant: Tenant;
let site: Site;
let bot: string;
/** The clock of the limits and tokens stands still, so that no minute ends during a test. */
let now = Date.now();
const HOUR_MS = 3_600_000;

beforeAll(async () => {
  site = await startSite();
  atTheEnd(() => site.close());
  app = await startApp({ clock: () => now, allowedHosts: [site.host] });
  tenant = await app.tenant();
});

beforeEach(async () => {
  bot = await tenant.bot(DESK);
  await updateBot(tenant, bot, { visitorSessionsPerHour: 1_000, visitorMessagesPerMinute: 1_000 });
  app.upstream.script(({ say, end }) => {
    say('Your order is **on its way**.');
    end();
  });
});

type Chat = {
  page: Page;
  /** The replies that are complete. */
  replies(): Promise<string[]>;
  /** Writes a message and sends it with the keyboard. */
  say(message: string): Promise<void>;
  choose(item: string): Promise<void>;
};

const REPLY = '.message-reply[aria-busy="false"]';

const chatIn = (page: Page): Chat => ({
  page,
  replies: () => page.locator(REPLY).allInnerTexts(),
  async say(message) {
    await page.getByLabel('Message').fill(message);
    await page.keyboard.press('Enter');
  },
  async choose(item) {
    await page.getByRole('button', { name: 'Conversation' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  },
});

const openChat = async (options: BrowserContextOptions = {}, url = app.url): Promise<Chat> => {
  const page = await openBlankPage({ baseURL: url, ...options });
  await page.goto(`/chat/${bot}`);
  await page.getByText('I am the order desk').waitFor();
  return chatIn(page);
};

/** Opens the chat in another tab of the same visitor. */
const openTab = async ({ page }: Chat): Promise<Chat> => {
  const tab = await page.context().newPage();
  await tab.goto(`/chat/${bot}`);
  await tab.getByText('I am the order desk').waitFor();
  return chatIn(tab);
};

const runsOf = () =>
  app.prisma.run.findMany({ where: { botId: bot }, orderBy: { createdAt: 'asc' } });

const statuses = async () => (await runsOf()).map(({ input, status }) => [input, status]);

const inTwoParts = () => replyInTwoParts(app.upstream);

/** Sends `One` in a tab, whose reply waits for `release`, then `Two` in another one, where it waits for its turn. */
const waitInOtherTab = async () => {
  const release = inTwoParts();
  const first = await openChat();
  const other = await openTab(first);
  await first.say('One');
  await first.page.getByText('The first part').waitFor();
  await other.say('Two');
  await expect.poll(app.waiting).toBe(1);
  return { first, other, release };
};

/**
 * Passes the next message of a page to the server and holds the response back. `begun` resolves with the request of the
 * page once the server responds: then the run has begun.
 */
const holdResponse = async (page: Page): Promise<{ begun: Promise<Route> }> => {
  const { promise: begun, resolve, reject } = Promise.withResolvers<Route>();
  const aborter = new AbortController();
  atTheEnd(() => aborter.abort());
  const pass = async (route: Route) => {
    const request = route.request();
    const { authorization = '', accept = '' } = request.headers();
    await fetch(`${app.url}/graphql/stream`, {
      method: 'POST',
      headers: { authorization, accept, 'content-type': 'application/json', origin: app.url },
      body: request.postData(),
      signal: aborter.signal,
    });
    resolve(route);
  };
  await page.route('**/graphql/stream', (route) => pass(route).catch(reject), { times: 1 });
  return { begun };
};

describe('the chat page', () => {
  browserTest('shows the welcome, and sends a suggestion', async () => {
    const { page, replies } = await openChat();
    await expect.poll(() => page.title()).toBe('Test');
    await page.getByRole('button', { name: 'Where is my order?' }).click();
    await expect.poll(replies).toEqual(['Your order is on its way.']);
    await expect
      .poll(() => page.getByRole('button', { name: 'I want to return something' }).count())
      .toBe(0);
    const [run] = await runsOf();
    expect([run?.input, run?.channel]).toEqual(['Where is my order?', 'WEB']);
  });

  browserTest('chats without HTTPS, where browsers have fewer functions', async () => {
    const page = await openBlankPage({ baseURL: app.url });
    await page.addInitScript(() => {
      Reflect.deleteProperty(Crypto.prototype, 'randomUUID');
      Reflect.deleteProperty(Navigator.prototype, 'locks');
    });
    await page.goto(`/chat/${bot}`);
    const { say, replies } = chatIn(page);
    await say('Hello');
    await expect.poll(replies).toEqual(['Your order is on its way.']);
  });

  browserTest('does not continue a session that its address names', async () => {
    const { token, resume } = await visit(app, bot);
    await sendAsVisitor(app, bot, token);
    const page = await openBlankPage({ baseURL: app.url });
    await page.goto(
      `/chat/${bot}#${new URLSearchParams({ origin: app.url, kept: JSON.stringify({ resume }) })}`,
    );
    const { say, replies } = chatIn(page);
    await say('Hello');
    await expect.poll(replies).toHaveLength(1);
    const [first, second] = await runsOf();
    expect(second?.sessionId).not.toBe(first?.sessionId);
  });

  browserTest('asks for a session with the first message only', async () => {
    const { page, say, replies } = await openChat();
    const visits: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/session')) visits.push(request.url());
    });
    await say('One');
    await expect.poll(replies).toHaveLength(1);
    await say('Two');
    await expect.poll(replies).toHaveLength(2);
    expect(visits).toHaveLength(1);
    expect(new Set((await runsOf()).map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  browserTest('remembers the conversation over a reload, and starts over', async () => {
    const { page, say, replies, choose } = await openChat();
    await say('Hello');
    await expect.poll(replies).toHaveLength(1);
    await page.reload();
    await expect.poll(replies).toEqual(['Your order is on its way.']);
    await expect.poll(() => page.locator('.message-own').innerText()).toContain('Hello');
    await choose('Start over');
    await page.getByRole('button', { name: 'Where is my order?' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Where is my order?' }).waitFor();
    await say('Again');
    await expect.poll(replies).toHaveLength(1);
    const [first, second] = await runsOf();
    expect(second?.sessionId).not.toBe(first?.sessionId);
  });

  browserTest('forgets the conversation on the server too', async () => {
    const { page, say, replies, choose } = await openChat();
    await say('My name is Ada');
    await expect.poll(replies).toHaveLength(1);
    await choose('Forget this conversation…');
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
    await page.getByRole('button', { name: 'Where is my order?' }).waitFor();
    expect(await app.prisma.session.count({ where: { botId: bot } })).toBe(0);
    expect((await runsOf()).map(({ input }) => input)).toEqual(['']);
  });

  browserTest('has the title, its first letter, and readable colours', async () => {
    bot = await tenant.bot(
      'channel web { title "acme desk" accent "#403CBF" welcome "I am the order desk" }',
    );
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, say, replies } = await openChat({ colorScheme });
      await expect.poll(() => page.title()).toBe('acme desk');
      await expect.poll(() => page.locator('.chat-initial').innerText()).toBe('A');
      await say('Hello');
      await expect.poll(replies).toHaveLength(1);
      const color = await page
        .locator('.message-own')
        .evaluate((element) => getComputedStyle(element).backgroundColor);
      if (colorScheme === 'light') expect(color).toBe('rgb(64, 60, 191)');
      await assertAccessible(page);
    }
  });

  browserTest('shows the label of a tool while it runs and afterwards', async () => {
    const waiting: (() => void)[] = [];
    site.handle((_request, response) => void waiting.push(() => response.end('Shipped.')));
    bot = await tenant.bot(`
      channel web { welcome "I am the order desk" }
      tools orders {
        capability lookup "Find an order" {
          label "Looked up your order"
          get "${site.origin}/orders"
        }
        capability audit "Note it" { get "${site.origin}/audit" }
      }`);
    app.upstream.script(({ request, say, call, end }) => {
      if (request.body.messages.some(({ role }) => role === 'tool')) {
        say('It is late.');
        return end();
      }
      const names = request.body.tools?.map(({ function: { name } }) => name) ?? [];
      call(...names.map((name): [string, object] => [name, {}]));
    });
    const { page, say, replies } = await openChat();
    await say('Where is my order?');
    const tools = () => page.locator('.message-tools li').allInnerTexts();
    await expect.poll(tools).toEqual(['Looked up your order: in progress']);
    await expect.poll(() => waiting.length).toBe(2);
    for (const answer of waiting) answer();
    await expect.poll(replies).toEqual(['Looked up your order\n\nIt is late.']);
    expect(await page.getByText(/orders|audit/).count()).toBe(0);
    await assertAccessible(page);
  });

  browserTest('names no tool, and stops a reply', async () => {
    app.upstream.script(({ request, say, call }) => {
      if (request.body.messages.some(({ role }) => role === 'tool')) return say('It is late');
      const names = request.body.tools?.map(({ function: { name } }) => name) ?? [];
      call([names.find((name) => name.includes('time')) ?? '', {}]);
    });
    const { page, say } = await openChat();
    await say('What time is it?');
    await page.getByText('It is late').waitFor();
    expect(await page.getByText('time.now').count()).toBe(0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.', { exact: true }).waitFor();
    await expect.poll(() => page.getByText('It is late').count()).toBeGreaterThan(0);
    await expect.poll(statuses).toEqual([['What time is it?', 'CANCELLED']]);
  });

  browserTest('tells why a reply failed, and tries again', async () => {
    app.upstream.script(({ response }) => void response.writeHead(400).end('{}'));
    const { page, say, replies } = await openChat();
    await say('Hello');
    await page.getByRole('alert').waitFor();
    app.upstream.script(({ say: answer, end }) => {
      answer('Now it works.');
      end();
    });
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(replies).toEqual(['Now it works.']);
    await expect.poll(() => page.locator('.message-own').count()).toBe(1);
  });

  browserTest('tells a visitor who writes too much how long to wait', async () => {
    await updateBot(tenant, bot, { visitorMessagesPerMinute: 1 });
    const { page, say, replies } = await openChat();
    await say('One');
    await expect.poll(replies).toHaveLength(1);
    await say('Two');
    await page.getByText(/^Too many messages from this address\. Wait \d+ seconds?\.$/).waitFor();
  });

  browserTest('renders a reply as Markdown that loads and runs nothing', async () => {
    app.upstream.script(({ say, end }) => {
      say(
        '# Title\n![x](https://evil.example/x.png) <img src=x onerror=alert(1)> [ok](https://shop.example) [bad](javascript:alert(1))\n\nمرحبا بالعالم',
      );
      end();
    });
    const { page, say, replies } = await openChat();
    await say('Hello');
    await expect.poll(replies).toHaveLength(1);
    await expect.poll(() => page.locator('.message-reply img').count()).toBe(0);
    const links = page.locator(`${REPLY} a`);
    const targets = () =>
      links.evaluateAll((all) =>
        all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]),
      );
    await expect.poll(targets).toEqual([
      ['https://evil.example/x.png', 'noopener noreferrer nofollow'],
      ['https://shop.example', 'noopener noreferrer nofollow'],
    ]);
    const arabic = page.getByText('مرحبا بالعالم', { exact: true });
    expect(await arabic.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
  });
});

describe('a reply whose network is cut', () => {
  browserTest('continues the reply when the network is back', async () => {
    const release = inTwoParts();
    const proxy = await startProxy(app.url);
    atTheEnd(() => proxy.close());
    const { page, say, replies } = await openChat({}, proxy.url);
    await say('Hello');
    await page.getByText('The first part').waitFor();
    proxy.cut();
    await page.getByText('The connection is lost').waitFor();
    release();
    proxy.restore();
    await expect.poll(replies).toEqual(['The first part and the second.']);
    expect(await runsOf()).toHaveLength(1);
  });

  browserTest('keeps what is typed and sent while the server is away', async () => {
    const proxy = await startProxy(app.url);
    atTheEnd(() => proxy.close());
    const { page, say, replies } = await openChat({}, proxy.url);
    await say('One');
    await expect.poll(replies).toHaveLength(1);
    proxy.cut();
    await say('Two');
    await page.getByText('The connection is lost. What you write stays here').waitFor();
    await assertAccessible(page);
    await page.getByLabel('Message').fill('And three');
    proxy.restore();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await expect.poll(replies).toEqual(Array(2).fill('Your order is on its way.'));
    expect(await page.getByLabel('Message').inputValue()).toBe('And three');
    await page.reload();
    await expect.poll(() => page.getByLabel('Message').inputValue()).toBe('And three');
    await page.getByLabel('Message').press('Enter');
    await expect.poll(replies).toHaveLength(3);
    await page.reload();
    await expect.poll(replies).toHaveLength(3);
    expect(await page.getByLabel('Message').inputValue()).toBe('');
    expect(await statuses()).toEqual([
      ['One', 'COMPLETED'],
      ['Two', 'COMPLETED'],
      ['And three', 'COMPLETED'],
    ]);
  });

  browserTest('keeps a message that did not reach the server for the next visit', async () => {
    const proxy = await startProxy(app.url);
    atTheEnd(() => proxy.close());
    const { page, say } = await openChat({}, proxy.url);
    proxy.cut();
    await say('Lost on the way');
    await page.getByText('The connection is lost').waitFor();
    const context = page.context();
    await page.close();
    proxy.restore();
    const later = await context.newPage();
    await later.goto(`${proxy.url}/chat/${bot}`);
    await expect.poll(() => later.getByLabel('Message').inputValue()).toBe('Lost on the way');
    expect(await runsOf()).toHaveLength(0);
  });

  browserTest('continues after a reload', async () => {
    const release = inTwoParts();
    const { page, say, replies } = await openChat();
    await say('Hello');
    await page.getByText('The first part').waitFor();
    await page.reload();
    await page.getByText('The first part').waitFor();
    release();
    await expect.poll(replies).toEqual(['The first part and the second.']);
    await expect.poll(() => page.locator('.message-own').count()).toBe(1);
    expect(await runsOf()).toHaveLength(1);
  });

  browserTest('continues after a reload, also if the message repeats the one before', async () => {
    const { page, say, replies } = await openChat();
    await say('More');
    await expect.poll(replies).toHaveLength(1);
    const release = inTwoParts();
    await say('More');
    await page.getByText('The first part').waitFor();
    await page.reload();
    await page.getByText('The first part').waitFor();
    await expect.poll(() => page.locator('.message-own').count()).toBe(2);
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    release();
    await expect
      .poll(replies)
      .toEqual(['Your order is on its way.', 'The first part and the second.']);
    await page.reload();
    await expect.poll(replies).toHaveLength(2);
    await expect.poll(() => page.locator('.message-own').count()).toBe(2);
    expect(await runsOf()).toHaveLength(2);
  });

  browserTest('is not written twice, if it was cut before its first event', async () => {
    const release = inTwoParts();
    const { page, say, replies } = await openChat();
    const { begun } = await holdResponse(page);
    await say('Hello');
    await (await begun).abort('connectionreset');
    await page.getByText('The chat cannot be reached.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The first part').waitFor();
    release();
    await expect.poll(replies).toEqual(['The first part and the second.']);
    await expect.poll(() => page.locator('.message-own').count()).toBe(1);
    expect(await statuses()).toEqual([['Hello', 'COMPLETED']]);
  });
});

describe('a reply that is stopped before its first event', () => {
  browserTest('ends its run, if that has begun', async () => {
    inTwoParts();
    const { page, say } = await openChat();
    const { begun } = await holdResponse(page);
    await say('Hello');
    await begun;
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.', { exact: true }).first().waitFor();
    await expect.poll(statuses).toEqual([['Hello', 'CANCELLED']]);
  });

  browserTest('begins no run, and leaves the run of another tab alone', async () => {
    const { first, other, release } = await waitInOtherTab();
    // The response of the search for a run. The first request has none.
    const search = other.page.waitForResponse((response) => response.url().endsWith('/stream'));
    await other.page.getByRole('button', { name: 'Stop' }).click();
    await other.page.getByText('Stopped.', { exact: true }).first().waitFor();
    await search;
    await expect.poll(app.waiting).toBe(0);
    release();
    await expect.poll(first.replies).toEqual(['The first part and the second.']);
    expect(await statuses()).toEqual([['One', 'COMPLETED']]);
  });

  browserTest('is not sent again if its message has not reached the server', async () => {
    const { page, say } = await openChat();
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
    await page.route('**/graphql/stream', () => held(), { times: 1 });
    await say('Hello');
    await isHeld;
    const search = page.waitForResponse((response) => response.url().endsWith('/stream'));
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(await (await search).text()).toContain('RUN_NOT_FOUND');
    await page.getByText('Stopped.', { exact: true }).first().waitFor();
    expect(await statuses()).toEqual([]);
  });
});

describe('a visitor', () => {
  browserTest('with two tabs gets two replies at the same time', async () => {
    const gates = new Map(['One', 'Two'].map((name) => [name, Promise.withResolvers<void>()]));
    app.upstream.script(async ({ request, say, end }) => {
      const message = request.body.messages.at(-1)?.content ?? '';
      say(`${message} is`);
      await gates.get(message)?.promise;
      say(' answered.');
      end();
    });
    const first = await openChat();
    const other = await openTab(first);
    await first.say('One');
    await first.page.getByText('One is').waitFor();
    await other.say('Two');
    await expect.poll(app.waiting).toBe(1);
    gates.get('One')?.resolve();
    await expect.poll(first.replies).toEqual(['One is answered.']);
    await other.page.getByText('Two is').waitFor();
    await other.page.reload();
    await other.page.getByText('Two is').waitFor();
    await other.page.getByRole('button', { name: 'Stop' }).waitFor();
    gates.get('Two')?.resolve();
    for (const { replies } of [first, other])
      await expect.poll(replies).toEqual(['One is answered.', 'Two is answered.']);
    expect(await statuses()).toEqual([
      ['One', 'COMPLETED'],
      ['Two', 'COMPLETED'],
    ]);
  });

  browserTest('with two tabs sees both replies in the tab that waited', async () => {
    const { first, other, release } = await waitInOtherTab();
    release();
    const own = other.page.locator('.message-own');
    await expect.poll(() => own.allInnerTexts()).toEqual(['You:\nOne', 'You:\nTwo']);
    await expect.poll(other.replies).toHaveLength(2);
    await expect.poll(first.replies).toHaveLength(2);
  });

  browserTest('with two tabs has one conversation in both', async () => {
    const first = await openChat();
    const other = await openTab(first);
    await first.say('One');
    await expect.poll(first.replies).toHaveLength(1);
    await expect.poll(other.replies).toHaveLength(1);
    await other.say('Two');
    await expect.poll(other.replies).toHaveLength(2);
    await expect.poll(first.replies).toHaveLength(2);
    expect(new Set((await runsOf()).map(({ sessionId }) => sessionId)).size).toBe(1);
    await other.choose('Start over');
    await first.page.getByRole('button', { name: 'Where is my order?' }).waitFor();
  });

  browserTest('who writes before the earlier messages are read sees both', async () => {
    const { page, say, replies } = await openChat();
    await say('One');
    await expect.poll(replies).toHaveLength(1);
    const hold = async (pattern: string) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route(pattern, async (route) => {
        await promise;
        await route.continue();
      });
      return resolve;
    };
    const readHistory = await hold('**/graphql');
    const sendMessage = await hold('**/graphql/stream');
    await page.reload();
    await say('Two');
    const own = page.locator('.message-own');
    await own.getByText('Two').waitFor();
    readHistory();
    await own.getByText('One').waitFor();
    await expect.poll(() => own.allInnerTexts()).toEqual(['You:\nOne', 'You:\nTwo']);
    sendMessage();
    await expect.poll(replies).toHaveLength(2);
    await expect.poll(() => own.count()).toBe(2);
  });

  browserTest('whose token is refused gets another one silently', async () => {
    const { page, say, replies } = await openChat();
    await say('One');
    await expect.poll(replies).toHaveLength(1);
    let refused = 0;
    await page.route('**/graphql/stream', (route) => {
      refused += 1;
      if (refused > 1) return route.continue();
      const headers = { ...route.request().headers(), authorization: 'Bearer a.b.c.d.e' };
      return route.continue({ headers });
    });
    await say('Two');
    await expect.poll(replies).toHaveLength(2);
    expect(new Set((await runsOf()).map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  browserTest('whose token expires during a reply gets the whole reply', async () => {
    const release = inTwoParts();
    const { page, say, replies } = await openChat();
    await say('Hello');
    await page.getByText('The first part').waitFor();
    const renewal = page.waitForResponse((response) => response.url().endsWith('/session'));
    now += 2 * HOUR_MS;
    await renewal;
    release();
    await expect.poll(replies).toEqual(['The first part and the second.']);
    expect(await runsOf()).toHaveLength(1);
  });

  browserTest('whose token has expired can forget the conversation', async () => {
    const { page, say, replies, choose } = await openChat();
    await say('Hello');
    await expect.poll(replies).toHaveLength(1);
    now += 2 * HOUR_MS;
    await choose('Forget this conversation…');
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
    await page.getByRole('button', { name: 'Where is my order?' }).waitFor();
    expect(await app.prisma.session.count({ where: { botId: bot } })).toBe(0);
  });

  browserTest('who ends a composed word with Enter sends nothing, in Safari too', async () => {
    const { page, replies, say } = await openChat();
    const field = page.getByLabel('Message');
    await field.fill('注文はどこ');
    const events: KeyboardEventInit[] = [{ isComposing: true }, { keyCode: 229 }];
    for (const event of events) await field.dispatchEvent('keydown', { key: 'Enter', ...event });
    expect(await field.inputValue()).toBe('注文はどこ');
    await say('注文はどこ?');
    await expect.poll(replies).toHaveLength(1);
    expect(await page.locator('.message-own').allInnerTexts()).toEqual(['You:\n注文はどこ?']);
  });

  browserTest('can use the page with the keyboard alone', async () => {
    const { page, replies } = await openChat();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    while ((await focused()) !== 'Where is my order?') await press('Tab');
    await press('Enter');
    await expect.poll(replies).toHaveLength(1);
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toBe('Message');
    await page.keyboard.type('One more');
    await press('Enter');
    await expect.poll(replies).toHaveLength(2);
    await page.getByRole('button', { name: 'Conversation' }).focus();
    await press('Enter');
    await expect.poll(focused).toBe('Start over');
    await press('ArrowDown', 'Enter');
    await page.getByRole('dialog').waitFor();
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

/** Fails if the page is wider than its window, which 320 pixels and a zoom of 200 percent make narrow. */
const assertNarrow = (page: Page) =>
  expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);

browserTest('the chat page is accessible at every width, in both themes', async () => {
  const { page, say, replies } = await openChat();
  await assertAccessible(page);
  app.upstream.script(({ say: answer, end }) => {
    answer(
      `A list:\n- ${'word '.repeat(40)}\n\n| a | b |\n|---|---|\n| ${'long '.repeat(20)} | 2 |\n\n\`\`\`\n${'x'.repeat(200)}\n\`\`\`\n`,
    );
    end();
  });
  await say('x'.repeat(200));
  await expect.poll(replies).toHaveLength(1);
  for (const [width, height] of [
    [320, 640],
    [320, 256],
    [768, 900],
    [1280, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    await assertNarrow(page);
    await assertAccessible(page);
  }
});

browserTest('the chat page moves nothing for visitors who prefer that', async () => {
  app.upstream.script(() => {});
  /** The elements with an animation or a transition that takes time. */
  const moving = async (reducedMotion: 'reduce' | 'no-preference') => {
    const { page, say } = await openChat({ reducedMotion });
    await say('Hello');
    await page.getByLabel('A reply is being written').waitFor();
    return page.evaluate(() => {
      const takesTime = (element: Element) =>
        ['', '::before', '::after'].some((part) => {
          const { animationDuration, transitionDuration } = getComputedStyle(element, part);
          return /[1-9]/.test(animationDuration + transitionDuration);
        });
      const elements = [...document.querySelectorAll('*')].filter(takesTime);
      return elements.map(({ tagName, className }) => `${tagName} ${className}`);
    });
  };
  expect(await moving('no-preference')).not.toEqual([]);
  expect(await moving('reduce')).toEqual([]);
});
