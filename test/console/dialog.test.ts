import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { addressOf, askToDeploy, sendingTo } from './deployments-page.ts';
import { assertAccessible } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const WIDTH = 360;
/** Of a phone with its keyboard open, so that long dialogs scroll. */
const HEIGHT = 480;

/** Fails if an edge of the dialog, or one of its controls, is outside the window, or if something covers a control. */
async function assertReachable(page: Page, dialog: Locator): Promise<void> {
  const box = await dialog.boundingBox();
  const { x = -1, y = -1, width = 0, height = 0 } = box ?? {};
  expect([x, y, WIDTH - x - width, HEIGHT - y - height].filter((space) => space < 8)).toEqual([]);
  // Only the height may scroll.
  expect(await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  const controls = await dialog.locator('button, input, textarea, select').all();
  expect(controls.length).toBeGreaterThan(0);
  for (const control of controls) {
    if (!(await control.isVisible())) continue;
    const outcome = await control.evaluate((element) => {
      element.scrollIntoView({ block: 'center' });
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const edges = element.closest('dialog')?.getBoundingClientRect();
      const isInside = edges && left >= edges.left && right <= edges.right;
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      const label = element.closest('label');
      const isOnTop = element.contains(hit) || hit?.contains(element) || label?.contains(hit);
      return isInside && isOnTop ? '' : element.outerHTML;
    });
    expect(outcome).toBe('');
  }
  await assertAccessible(page);
}

/** Dialogs by their titles, each with the steps that open it. */
const DIALOGS: Record<string, (page: Page, bot: string) => Promise<unknown>> = {
  'New API key': async (page) => {
    await page.goto('/settings/keys');
    await page.getByRole('link', { name: 'New key' }).click();
  },
  'Export runs': async (page, bot) => {
    await page.goto(`/bots/${bot}/runs?status=failed&model=${'m'.repeat(200)}`);
    await page.getByRole('button', { name: 'Export…' }).click();
  },
  'Keyboard shortcuts': async (page, bot) => {
    await page.goto(`/bots/${bot}/runs`);
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await page.keyboard.press('?');
  },
  'Deploy to production': async (page, bot) => {
    await page.goto(addressOf(bot, '/new'));
    const definition = page.getByRole('textbox', { name: 'Definition' });
    await definition.fill(sendingTo('one.example', `TOKEN_${'X'.repeat(50)}`));
    await askToDeploy(page);
    await page.getByLabel(/^env\.TOKEN/).waitFor();
  },
};

describe('a dialog on a narrow window', () => {
  browserTest.for(Object.entries(DIALOGS))(
    'shows its edges and reaches each control: %s',
    async ([title, openDialog]) => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      const page = await signedIn(tenant.apiKey);
      await page.setViewportSize({ width: WIDTH, height: HEIGHT });
      await openDialog(page, bot);
      const dialog = page.getByRole('dialog', { name: title });
      await dialog.waitFor();
      await assertReachable(page, dialog);
      await dialog.getByRole('button', { name: 'Close', exact: true }).first().click();
      await dialog.waitFor({ state: 'detached' });
    },
  );
});
