import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';
import { isLateFont } from '../helpers/page-log.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

describe('the reference page', () => {
  browserTest('shows every operation, and contacts no other server', async () => {
    const page = await openBlankPage();
    const requests: string[] = [];
    const warnings: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => {
      if (!isLateFont(message.text())) warnings.push(message.text());
    });
    page.on('pageerror', (error) => warnings.push(error.message));
    await page.goto(`${app.url}/docs`);
    const { paths } = await (await fetch(`${app.url}/v1/openapi.json`)).json();
    for (const path of Object.keys(paths)) {
      const shown = page.locator('.route code', { hasText: new RegExp(`^/v1${path}$`) });
      await expect.poll(() => shown.count()).toBe(Object.keys(paths[path]).length);
    }
    const links = await page
      .locator('nav a')
      .evaluateAll((anchors) => anchors.map((anchor) => anchor.getAttribute('href') ?? ''));
    for (const link of links.filter((href) => href.startsWith('#'))) {
      await expect.poll(() => page.locator(link).count(), { message: link }).toBe(1);
    }
    const sent = requests.filter((url) => !url.startsWith('data:'));
    const addresses = sent.map((url) => url.replace(app.url, ''));
    const known = /^(\/docs|\/graphql|(\/docs)?\/assets\/.*)$/;
    expect(addresses.filter((address) => !known.test(address))).toEqual([]);
    const { port } = new URL(app.url);
    const shown = page.getByText(`'http://127.0.0.1:${port}/v1/bots/demo/chat'`);
    await expect.poll(() => shown.count()).toBe(1);
    expect(warnings).toEqual([]);
  });

  browserTest('runs a streamed operation with a key, and does not store the key', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await openBlankPage();
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.goto(`${app.url}/docs`);
    await page.getByLabel('API key').fill(tenant.apiKey);
    await page.locator('#chat .try summary').click();
    const form = page.locator('#chat form');
    await form.getByLabel('id *', { exact: true }).fill(bot);
    await form.getByLabel('X-Session-ID').fill('josé');
    await form.getByLabel('Body').fill('{"message": "Hi", "stream": true}');
    await form.getByRole('button', { name: 'Send' }).click();
    const result = form.locator('.result');
    await result.getByText('"event":"done"').waitFor();
    const text = await result.textContent();
    expect(text).toMatch(/^200 OK/);
    const id = /x-run-id: (\S+)/.exec(text ?? '')?.[1] ?? '';
    expect((await app.prisma.run.findUnique({ where: { id } }))?.sessionId).toBe('josé');
    expect([...hosts].filter((host) => host !== '')).toEqual([new URL(app.url).host]);
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
    expect(kept).toBe('[{},{}]');
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await expect.poll(() => page.getByLabel('API key').inputValue()).toBe('');
  });

  browserTest('fits a phone, and offers the values of a parameter', async () => {
    const page = await openBlankPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`${app.url}/docs`);
    await page.locator('#chat .try summary').waitFor();
    const widths = () =>
      page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        return { scrollWidth, clientWidth };
      });
    await expect.poll(widths).toEqual({ scrollWidth: 390, clientWidth: 390 });
    await page.locator('#chat .try summary').click();
    const choice = page.locator('#chat').getByLabel('X-Environment');
    await expect
      .poll(() => choice.locator('option').allTextContents())
      .toEqual(['not sent', 'production', 'staging']);
  });
});
