import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn, open: openBlank } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const open = async (path: string, options = {}) => {
  const page = await openBlank(app.url, options);
  await page.goto(path);
  return page;
};

/** Pages that together have every element of the guide. */
const VARIED = ['The language agentlang', 'Security', 'Performance'];

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const contents = (page: Page) => page.getByRole('complementary').getByRole('navigation');
/** The distance of a heading from the top of the scroll container, in pixels. */
const topOf = (page: Page, id: string) =>
  page.evaluate((anchor) => {
    const bar = document.querySelector('.screen-bar')?.getBoundingClientRect().bottom ?? 0;
    return (document.getElementById(anchor)?.getBoundingClientRect().top ?? Infinity) - bar;
  }, id);

const scrollOf = (page: Page) =>
  page.locator('.screen-body').evaluate(({ scrollTop }) => scrollTop);

describe('the guide', () => {
  browserTest('is readable without a session, from page to page', async () => {
    const page = await open('/guide');
    await title(page, 'First steps');
    await page.getByText('Parley is a gateway that hosts conversational agents.').waitFor();
    await page.getByRole('button', { name: /Sign in/ }).waitFor();
    // The server runs, and its address is the one in the browser.
    const text = await page.getByRole('article').innerText();
    expect(text).toContain(`${app.url}/v1/bots/demo/chat`);
    expect(text).not.toMatch(/npm ci && npm start|127\.0\.0\.1:4000/);
    await assertAccessible(page);
    await assertFits(page);
    const next = page.getByRole('link', { name: 'Next The console' });
    await next.scrollIntoViewIfNeeded();
    const position = await scrollOf(page);
    expect(position).toBeGreaterThan(100);
    await next.click();
    await title(page, 'The console');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/guide/console');
    await expect.poll(() => scrollOf(page)).toBe(0);
    await page.goBack();
    await title(page, 'First steps');
    await expect.poll(() => scrollOf(page)).toBe(position);
    await page.getByRole('link', { name: 'docs/operations.md' }).first().click();
    await title(page, 'Operating Parley');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await expect.poll(() => topOf(page, 'settings')).toBeLessThan(100);
  });

  browserTest('has its search in sight beside a long title on a phone', async () => {
    const page = await open('/guide/language');
    await page.setViewportSize({ width: 360, height: 800 });
    await title(page, 'The language agentlang');
    const bar = page.locator('.screen-bar');
    const overflow = () => bar.evaluate((element) => element.scrollWidth - element.clientWidth);
    await expect.poll(overflow).toBe(0);
  });

  browserTest('shows every page, at every width', async () => {
    const page = await open('/guide');
    await title(page, 'First steps');
    const links = contents(page).locator('a[href^="/guide/"]');
    const names = await links.allTextContents();
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      await contents(page).getByRole('link', { name, exact: true }).first().click();
      await title(page, name);
      await page.getByRole('navigation', { name: 'Neighbouring pages' }).waitFor();
      await assertFits(page);
      if (VARIED.includes(name)) await assertAccessible(page);
    }
  });

  browserTest('opens at the heading in its address, and marks it in the contents', async () => {
    const page = await open('/guide/rest#idempotency');
    await expect.poll(() => topOf(page, 'idempotency')).toBeLessThan(100);
    const mark = contents(page).locator('[aria-current="location"]');
    await expect.poll(() => mark.textContent()).toBe('Idempotency');
    await contents(page).getByRole('link', { name: 'Errors' }).click();
    await expect.poll(() => mark.textContent()).toBe('Errors');
    await expect.poll(() => new URL(page.url()).hash).toBe('#errors');
    await page.reload();
    await expect.poll(() => topOf(page, 'errors')).toBeLessThan(100);
  });

  browserTest('finds headings with only the keyboard, even if letters are missing', async () => {
    const page = await open('/guide');
    await title(page, 'First steps');
    await page.keyboard.press('/');
    await page.keyboard.type('rsume');
    const options = page.getByRole('option');
    await options.filter({ hasText: 'Resume a stream' }).waitFor();
    await assertAccessible(page);
    await page.keyboard.press('Enter');
    await title(page, 'The REST API');
    await expect.poll(() => topOf(page, 'resume-a-stream')).toBeLessThan(100);

    await page.keyboard.press('/');
    await page.keyboard.type('chat');
    await options.nth(1).waitFor();
    const second = (await options.nth(1).textContent()) ?? '';
    await page.keyboard.press('ArrowDown');
    await expect
      .poll(() => page.getByRole('option', { selected: true }).textContent())
      .toBe(second);
    await page.keyboard.press('Escape');
    await options.first().waitFor({ state: 'hidden' });
    await page.keyboard.type('qqqq');
    await page.getByText('No heading matches “qqqq”.').waitFor();
  });

  browserTest("copies code with this server's address", async () => {
    const page = await open('/guide/rest', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await title(page, 'The REST API');
    const block = page.locator('.code-block').filter({ hasText: 'X-Session-ID: user-1' }).first();
    await block.getByRole('button', { name: 'Copy' }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toContain(`curl ${app.url}/v1/bots/demo/chat`);
  });

  browserTest('reports an unknown address', async () => {
    const page = await open('/guide/nothing');
    await page.getByText('The guide has no page at this address.').waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'Go to the guide' }).click();
    await title(page, 'First steps');
  });

  browserTest('is in the navigation of a signed-in account', async () => {
    const tenant = await app.tenant();
    const page = await open('/bots');
    await page.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Guide' }).click();
    await title(page, 'First steps');
    await page.getByRole('button', { name: /^Account Tenant/ }).waitFor();
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Bots', exact: true })
      .click();
    await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
  });

  browserTest(
    'does not move what it shows when the answer to the first request is late',
    async () => {
      const { apiKey } = await app.tenant();
      const page = await signedIn(apiKey);
      await page.addInitScript(() => {
        Object.assign(window, { shifts: [] });
        new PerformanceObserver((list) => {
          Object(window).shifts.push(...list.getEntries().map((entry) => entry.toJSON()));
        }).observe({ type: 'layout-shift', buffered: true });
      });
      const content = page.waitForResponse(/guide-page-/);
      await page.route('**/graphql', async (route) => {
        const answer = await route.fetch();
        await content;
        await page.evaluate(paint);
        await route.fulfill({ response: answer });
      });
      await page.goto('/guide');
      await page.getByRole('button', { name: /^Account Tenant/ }).waitFor();
      await page.getByText('Parley is a gateway that hosts conversational agents.').waitFor();
      await page.evaluate(paint);
      expect(await page.evaluate(() => Object(window).shifts)).toEqual([]);
    },
  );
});

/** Runs in the page: waits until two frames are on the screen. */
async function paint(): Promise<void> {
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
}
