import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** Opens the list of bots. @returns the page, and the button of a bot's menu with the focus. */
async function openBots() {
  const tenant = await app.tenant();
  await tenant.bot(null);
  const page = await signedIn(tenant.apiKey);
  const button = page.getByRole('button', { name: 'Actions for' });
  await button.focus();
  return { page, button, menu: page.getByRole('menu', { name: 'Actions for' }) };
}

const expectFocus = (page: Page, name: string) =>
  expect.poll(() => page.locator(':focus').textContent()).toBe(name);

describe('a menu', () => {
  browserTest.for([
    ['Enter', 'Open'],
    ['Space', 'Open'],
    ['ArrowDown', 'Open'],
    ['ArrowUp', 'Delete…'],
  ] as const)('opens by %s on the item %s', async ([key, item]) => {
    const { page, button, menu } = await openBots();
    expect(await button.getAttribute('aria-haspopup')).toBe('menu');
    expect(await button.getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press(key);
    await expectFocus(page, item);
    await expect.poll(() => button.getAttribute('aria-expanded')).toBe('true');
    expect(await button.getAttribute('aria-controls')).toBe(await menu.getAttribute('id'));
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    await expect.poll(() => button.getAttribute('aria-expanded')).toBe('false');
    expect(await button.evaluate((element) => element.matches(':focus'))).toBe(true);
  });

  browserTest('moves from the last item to the first one and back, and to both ends', async () => {
    const { page } = await openBots();
    for (const [key, item] of [
      ['ArrowDown', 'Open'],
      ['ArrowUp', 'Delete…'],
      ['ArrowUp', 'Rename…'],
      ['End', 'Delete…'],
      ['ArrowDown', 'Open'],
      ['ArrowDown', 'Runs'],
      ['Home', 'Open'],
    ] as const) {
      await page.keyboard.press(key);
      await expectFocus(page, item);
    }
    await assertAccessible(page);
  });

  browserTest(
    'finds an item by its first letters, and the next one by the same letter',
    async () => {
      const { page } = await openBots();
      await page.keyboard.press('Enter');
      await expectFocus(page, 'Open');
      await page.keyboard.type('rr');
      await expectFocus(page, 'Rename…');
      await page.keyboard.press('Shift+R');
      await expectFocus(page, 'Runs');
      await page.keyboard.type('x');
      await expectFocus(page, 'Runs');
    },
  );

  browserTest('has the focus on its first item if it closes and opens at once', async () => {
    const { page, button, menu } = await openBots();
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Open');
    await menu.evaluate((element) => {
      if (!(element instanceof HTMLElement)) return;
      element.hidePopover();
      element.showPopover();
    });
    await expectFocus(page, 'Open');
    expect(await button.getAttribute('aria-expanded')).toBe('true');
  });

  browserTest('closes by Tab, which goes on behind the button, and by a chosen item', async () => {
    const { page, button, menu } = await openBots();
    await page.keyboard.press('ArrowDown');
    await expectFocus(page, 'Open');
    await page.keyboard.press('Tab');
    await menu.waitFor({ state: 'hidden' });
    expect(await button.evaluate((element) => element.matches(':focus'))).toBe(false);
    await page.keyboard.press('Shift+Tab');
    expect(await button.evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Delete' }).waitFor();
    await menu.waitFor({ state: 'hidden' });
  });

  browserTest('follows a link by the space bar', async () => {
    const { page } = await openBots();
    await page.setViewportSize({ width: 360, height: 780 });
    await page.getByRole('button', { name: 'More' }).focus();
    await page.keyboard.press('ArrowDown');
    await expectFocus(page, 'REST API');
    await page.keyboard.press('Space');
    await page.waitForURL('**/docs');
  });
});
