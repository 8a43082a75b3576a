import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { updateBot } from '../channels/web/visitors.ts';
import { assertAccessible } from '../console/page.ts';
import { startProxy } from '../console/proxy.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';

const DESK = `
  tools time
  memory { name "The name" }
  channel web {
    welcome "Hi! I am the **order desk**."
    suggestions "Where is my order?", "I want to return something"
  }`;

let app: TestApp;
let tenant: Tenant;
let bot: string;
/** The clock of the limits stands still, so that no minute ends during a test. */
const NOW = Date.now();

beforeAll(async () => {
  app = await startApp({ clock: () => NOW });
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

const runsOf = () =>
  app.prisma.run.findMany({ where: { botId: bot }, orderBy: { createdAt: 'asc' } });

describe('the chat page', () => {
  browserTest('shows the welcome, and sends a suggestion', async () => {
    const { page, replies } = await openChat();
    expect(await page.title()).toBe('Test');
    await page.getByRole('button', { name: 'Where is my order?' }).click();
    await expect.poll(replies).toEqual(['Your order is on its way.']);
    expect(await page.getByRole('button', { name: 'I want to return something' }).count()).toBe(0);
    const [run] = await runsOf();
    expect([run?.input, run?.channel]).toEqual(['Where is my order?', 'WEB']);
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
    expect(await page.locator('.message-own').innerText()).toContain('Hello');
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

  browserTest('shows a running tool by its name, and stops a reply', async () => {
    app.upstream.script(({ request, say, call }) => {
      if (request.body.messages.some(({ role }) => role === 'tool')) return say('It is late');
      const names = request.body.tools?.map(({ function: { name } }) => name) ?? [];
      call([names.find((name) => name.includes('time')) ?? '', {}]);
    });
    const { page, say } = await openChat();
    await say('What time is it?');
    await page.getByText('time.now').waitFor();
    await page.getByText('It is late').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.', { exact: true }).waitFor();
    expect(await page.getByText('It is late').count()).toBeGreaterThan(0);
    const [run] = await runsOf();
    expect(run?.status).toBe('CANCELLED');
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
    expect(await page.locator('.message-own').count()).toBe(1);
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
    expect(await page.locator('.message-reply img').count()).toBe(0);
    const links = page.locator(`${REPLY} a`);
    expect(
      await links.evaluateAll((all) =>
        all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]),
      ),
    ).toEqual([
      ['https://evil.example/x.png', 'noopener noreferrer nofollow'],
      ['https://shop.example', 'noopener noreferrer nofollow'],
    ]);
    const arabic = page.getByText('مرحبا بالعالم', { exact: true });
    expect(await arabic.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
  });
});

describe('a reply whose network is cut', () => {
  /** A reply in two parts. The second one waits for `release`. */
  const inTwoParts = () => {
    const gate = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('The first part');
      await gate.promise;
      say(' and the second.');
      end();
    });
    return gate.resolve;
  };

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

  browserTest('continues after a reload', async () => {
    const release = inTwoParts();
    const { page, say, replies } = await openChat();
    await say('Hello');
    await page.getByText('The first part').waitFor();
    await page.reload();
    await page.getByText('The first part').waitFor();
    release();
    await expect.poll(replies).toEqual(['The first part and the second.']);
    expect(await page.locator('.message-own').count()).toBe(1);
    expect(await runsOf()).toHaveLength(1);
  });
});

describe('a visitor', () => {
  browserTest('with two tabs has one conversation in both', async () => {
    const first = await openChat();
    const other = chatIn(await first.page.context().newPage());
    await other.page.goto(`/chat/${bot}`);
    await other.page.getByText('I am the order desk').waitFor();
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
    expect(await own.allInnerTexts()).toEqual(['You:\nOne', 'You:\nTwo']);
    sendMessage();
    await expect.poll(replies).toHaveLength(2);
    expect(await own.count()).toBe(2);
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

  browserTest('can use the page with the keyboard alone', async () => {
    const { page, replies } = await openChat();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    while ((await focused()) !== 'Where is my order?') await press('Tab');
    await press('Enter');
    await expect.poll(replies).toHaveLength(1);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'Message',
    );
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
  page
    .evaluate(() => document.documentElement.scrollWidth - innerWidth)
    .then((over) => expect(over).toBe(0));

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
