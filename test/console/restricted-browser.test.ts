import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith, ask, pathOf } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { open, signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const BLOCKED = 'This browser did not keep the cookie of the session.';

describe('a browser that blocks cookies', () => {
  browserTest('gets an explanation after a sign-in by key, until it stores them', async () => {
    const tenant = await app.tenant();
    const page = await open();
    // The sign-in succeeds, but its cookie does not reach the browser.
    await page.route('**/session', async (route) => {
      const { status } = await fetch(`${app.url}/session`, {
        method: 'POST',
        headers: { ...(await route.request().allHeaders()), origin: app.url },
        body: route.request().postData(),
      });
      await route.fulfill({ status });
    });
    await page.goto('/bots');
    for (const attempt of [1, 2]) {
      await page.getByLabel('API key').fill(tenant.apiKey);
      await page.keyboard.press('Enter');
      await page.getByText(BLOCKED).waitFor();
      await expect
        .poll(() => page.getByLabel('API key').inputValue(), { message: `attempt ${attempt}` })
        .toBe('');
    }
    await assertAccessible(page);
    await assertFits(page);
    await page.unroute('**/session');
    await page.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
  });

  browserTest('gets an explanation when an ended session is signed in again', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey, '/settings');
    await page.context().clearCookies();
    await page.route('**/session', (route) => route.fulfill({ status: 204 }));
    // The page may learn of the end by itself, and then its dialog covers the link.
    await page.getByRole('link', { name: 'Server' }).dispatchEvent('click');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await dialog.getByText(BLOCKED).waitFor();
    await page.unroute('**/session');
    await dialog.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await page.getByText('This process').waitFor();
    await expect.poll(() => dialog.count()).toBe(0);
  });
});

browserTest(
  'a browser that blocks local storage keeps the theme until the tab closes',
  async () => {
    const tenant = await app.tenant();
    const page = await open();
    await page.addInitScript(() => {
      const blocked = () => {
        throw new DOMException('Blocked.', 'SecurityError');
      };
      Object.defineProperty(Storage.prototype, 'getItem', { value: blocked });
      Object.defineProperty(Storage.prototype, 'setItem', { value: blocked });
    });
    await page.goto('/bots');
    await page.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('dark');
    await page.keyboard.press('Enter');
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await expect.poll(theme).toBe('dark');
    await page.reload();
    await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
    await expect.poll(theme).toBeUndefined();
  },
);

browserTest('a page without HTTPS, where browsers make no UUID, chats', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  answerWith(app, 'The end.');
  const page = await open();
  await page.addInitScript(() => Reflect.deleteProperty(Crypto.prototype, 'randomUUID'));
  await page.goto(pathOf(bot));
  await page.getByLabel('API key').fill(tenant.apiKey);
  await page.keyboard.press('Enter');
  await ask(page, 'Tell me a story');
  await page.getByText('The end.').waitFor();
});

browserTest('a browser without JavaScript shows that it is required', async () => {
  const page = await open(app.url, { javaScriptEnabled: false });
  await page.goto('/bots');
  const note = page.locator('noscript');
  await note.waitFor();
  await expect.poll(() => note.innerText()).toMatch(/^The Parley console needs JavaScript\./);
  await assertFits(page);
});

describe('a clock', () => {
  for (const minutes of [-10, 10]) {
    browserTest(`that is ${minutes} minutes off changes no time on the screens`, async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot();
      await makeRuns(app, bot, [{ createdAt: new Date(Date.now() - 30_000) }]);
      const page = await open();
      await page.clock.install({ time: Date.now() + minutes * 60_000 });
      await page.goto('/bots');
      await page.getByLabel('API key').fill(tenant.apiKey);
      await page.keyboard.press('Enter');
      await page.getByText(/deployed (now|[1-5] ?m\w* ago)/).waitFor();
      await page.getByRole('img', { name: '1 runs in the last 24 hours, 0 failed' }).waitFor();
      await page.goto('/settings/keys/new');
      await page.getByLabel('Name').fill('Month');
      await page.getByLabel('Expires').selectOption('In 30 days');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'I have stored it' }).click();
      const where = { accountId: tenant.accountId, name: 'Month' };
      const { expiresAt } = await app.prisma.apiKey.findFirstOrThrow({ where });
      const off = Number(expiresAt) - (Date.now() + 30 * 86_400_000);
      expect(Math.abs(off)).toBeLessThan(5 * 60_000);
    });
  }
});

describe('a limit that is reached while a screen loads', () => {
  const refuse = (retryAfter: number) => ({
    headers: { 'x-request-id': 'req_limit' },
    json: {
      errors: [
        {
          message: `Too many requests. Wait ${retryAfter} seconds.`,
          extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfter },
        },
      ],
    },
  });

  browserTest('counts down, and then tries again', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey, '/settings');
    await page.clock.install();
    let refused = 0;
    await page.route('**/graphql', (route) => {
      refused += 1;
      return route.fulfill(refuse(300));
    });
    await page.getByRole('link', { name: 'Server' }).click();
    const button = page.getByRole('button', { name: 'Try again' });
    await page.getByText(/Try again in \d+ s/).waitFor();
    await assertAccessible(page);
    await button.click({ force: true });
    expect(refused).toBe(1);
    await page.unroute('**/graphql');
    await page.clock.runFor(301_000);
    await page.getByText('Try again', { exact: true }).waitFor();
    await button.click();
    await page.getByText('This process').waitFor();
  });

  browserTest('replaces the whole page if the first request is refused', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey);
    await page.route('**/graphql', (route) => route.fulfill(refuse(300)));
    await page.reload();
    await page.getByText(/Try again in \d+ s/).waitFor();
    await page.getByTitle('Copy req_limit').waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('is the limit of the account for changes, but not for reads', async () => {
    const now = Date.now();
    const still = await startApp({ clock: () => now });
    // The sign-in.
    const tenant = await still.tenant({ requestsPerMinute: 1 });
    const page = await signedIn(tenant.apiKey, '/settings/server', still.url);
    await page.getByText('This process').waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('meter', { name: 'This minute' }).waitFor();
    await page.goto(`${still.url}/bots/new`);
    await page.getByLabel('Name').fill('Order desk');
    await page.getByRole('button', { name: 'Create bot' }).click();
    await page.getByText(/^Too many requests\./).waitFor();
  });
});
