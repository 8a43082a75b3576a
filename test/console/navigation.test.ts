import { beforeAll, describe, expect, test } from 'vitest';
import { ROWS } from '../../src/console/screen-addresses.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

test('each destination has its own icon', () => {
  const icons = ROWS.flatMap(({ icon }) => icon ?? []);
  expect(new Set(icons).size).toBe(icons.length);
});

browserTest('the key ? lists the shortcuts, but not while text is typed', async () => {
  const tenant = await app.tenant();
  const page = await signedIn(tenant.apiKey, '/bots');
  await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await dialog.getByText('copy the output of the step').waitFor();
  await assertAccessible(page);
  await assertFits(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('?');
  await expect.poll(() => page.getByRole('combobox', { name: /^Go to/ }).inputValue()).toBe('?');
  expect(await dialog.count()).toBe(0);
});

describe('the navigation of a narrow window', () => {
  browserTest('has the other places and the account under "More", by keyboard', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    await page.setViewportSize({ width: 360, height: 780 });
    const bar = page.getByRole('navigation', { name: 'Main' });
    await bar.getByRole('link', { name: 'Studio' }).waitFor();
    await expect
      .poll(() => bar.getByRole('link').allTextContents())
      .toEqual(['Playground', 'Runs', 'Studio']);
    expect(await bar.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    await bar.getByRole('button', { name: 'More' }).focus();
    await page.keyboard.press('Enter');
    const menu = page.getByRole('menu', { name: 'More' });
    await menu.getByRole('menuitem', { name: 'Home' }).and(page.locator(':focus')).waitFor();
    await assertAccessible(page);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await menu.getByRole('menuitem', { name: 'Approvals' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Nothing was deployed yet' }).waitFor();
    await expect.poll(() => page.url()).toBe(`${app.url}/bots/${bot}/deployments`);
    await bar.getByRole('button', { name: 'More' }).focus();
    await page.keyboard.press('Enter');
    await menu.getByRole('menuitem', { name: 'Bots' }).waitFor();
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    await bar.getByRole('button', { name: 'More' }).click();
    await page.setViewportSize({ width: 1024, height: 780 });
    await menu.waitFor({ state: 'hidden' });
    await assertFits(page);
    await page.setViewportSize({ width: 360, height: 780 });
    await bar.getByRole('button', { name: 'More' }).click();
    await menu.getByRole('menuitem', { name: 'Settings' }).click();
    await bar.getByRole('link', { name: 'Guide' }).waitFor();
    await expect
      .poll(() => bar.getByRole('link').allTextContents())
      .toEqual(['Bots', 'Settings', 'Guide']);
    await bar.getByRole('button', { name: 'More' }).click();
    await menu.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
  });
});
