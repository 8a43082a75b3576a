import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const visits = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const open = async (path: string) => {
  const page = await visits.open();
  await page.goto(path);
  return page;
};

const signedIn = async (key: string) => {
  const page = await open('/bots');
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Account Tenant/ }).waitFor();
  return page;
};

const background = (page: Page, selector: string) =>
  page.evaluate((found) => {
    const element = document.querySelector(found) ?? document.body;
    return getComputedStyle(element).backgroundColor;
  }, selector);

const chooseTheme = async (page: Page, name: string) => {
  await page.getByRole('button', { name: /^Account|^Sign in/ }).click();
  await page.getByRole('menuitemradio', { name }).click();
};

describe('GraphiQL in the console', () => {
  browserTest(
    'runs operations with the key of the session, without a key in the page',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot();
      const page = await signedIn(tenant.apiKey);
      const query = `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { __typename ... on ChatDone { tokensUsed } } }`;
      await page.goto(`/graphql?query=${encodeURIComponent(query)}`);
      await page.getByText(/^Operations run with your key/).waitFor();
      await page.getByRole('button', { name: /^Account Tenant/ }).waitFor();
      // A click before both editors are there does nothing.
      await page.locator('.graphiql-query-editor .view-lines').getByText('subscription').waitFor();
      await page.locator('.result-window .view-lines').waitFor({ state: 'attached' });
      await page.locator('.graphiql-execute-button').click();
      const result = page.locator('.result-window');
      await result.getByText('ChatDone').waitFor();
      await expect.poll(() => result.textContent()).toMatch(/tokensUsed.*15/s);
      // The session also authorizes the introspection.
      await page.getByLabel('Show Documentation Explorer').click();
      await page.locator('.graphiql-doc-explorer-content a').first().waitFor();
      await assertFits(page);
    },
  );

  browserTest('asks for a key without a session', async () => {
    const page = await open('/graphql');
    await page.getByText('Not signed in: put an API key into the headers.').waitFor();
    await page.getByText('Bearer <API_KEY>').waitFor();
    await page.locator('.graphiql-execute-button').waitFor();
    await assertAccessible(page, '.graphiql-container');
    await assertFits(page);
  });

  browserTest('follows the theme of the console, and keeps the entered text', async () => {
    const page = await open('/graphql?query={__typename}');
    await page.emulateMedia({ colorScheme: 'light' });
    const editor = page.locator('.graphiql-query-editor .view-lines');
    await editor.getByText('__typename').waitFor();
    const light = await background(page, '.graphiql-container');
    await page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden) .view-lines').click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('{"X-Typed": "1"}');
    await chooseTheme(page, 'Dark');
    await expect.poll(() => background(page, '.graphiql-container')).not.toBe(light);
    await editor.getByText('__typename').waitFor();
    await page.getByText('X-Typed').waitFor();
    await page.goto('/docs');
    await expect.poll(() => background(page, 'body')).toBe('rgb(18, 20, 19)');
    await chooseTheme(page, 'Light');
    await page.goto('/guide');
    await expect.poll(() => background(page, 'body')).toBe('rgb(253, 253, 252)');
  });
});

describe('the reference in the console', () => {
  browserTest('has the navigation, the account and its own contents', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey);
    await page.getByRole('link', { name: 'REST API', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'REST API' }).waitFor();
    await page.getByRole('button', { name: /^Account Tenant/ }).waitFor();
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    const current = links.and(page.locator('[aria-current=page]'));
    await expect.poll(() => current.textContent()).toBe('REST API');
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('complementary').getByRole('link', { name: 'Errors' }).click();
    await expect
      .poll(() =>
        page.locator('#errors').evaluate((element) => element.getBoundingClientRect().top),
      )
      .toBeLessThan(200);
    await expect.poll(() => page.getByText('Bearer $PARLEY_API_KEY').count()).toBeGreaterThan(5);
    await page.getByRole('link', { name: 'GraphiQL', exact: true }).click();
    await page.locator('.graphiql-execute-button').waitFor();
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Bots', exact: true })
      .click();
    await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
  });

  browserTest('runs an example with a key that the session makes', async () => {
    const tenant = await app.tenant();
    await tenant.bot();
    const page = await signedIn(tenant.apiKey);
    await page.goto('/docs');
    await page.getByRole('button', { name: 'Make a key for one hour' }).click();
    await page.getByText('The key is in the field').waitFor();
    await page.locator('#chat .try summary').click();
    const form = page.locator('#chat form');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('.result').getByText('200 OK').waitFor();
    const made = await app.prisma.apiKey.findFirstOrThrow({
      where: { accountId: tenant.accountId, name: 'REST API reference, 1 hour' },
    });
    expect(made.scopes).not.toContain('OPERATOR');
    expect(made.expiresAt?.getTime()).toBeLessThanOrEqual(Date.now() + 3_600_000);
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('signs out from any page', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey);
    await page.goto('/docs');
    await page.getByRole('button', { name: /^Account Tenant/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL((url) => url.pathname === '/');
    await page.getByLabel('API key').waitFor();
    await page.goto('/docs');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('menuitem', { name: 'Sign in…' }).click();
    await page.getByRole('heading', { name: /Sign in/ }).waitFor();
  });
});
