import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { RunCounts } from '../../src/generated/operations/console.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { numbered, openLive } from './runs-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** Twelve runs: two failed, three are slow, one of the slow ones is rated bad, and half of them are in staging. */
async function makeBot() {
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  const made = await makeRuns(
    app,
    bot,
    numbered(12, (number) => ({
      status: number < 2 ? 'FAILED' : 'COMPLETED',
      latencyMs: number > 8 ? 5_000 + number : 4_999,
      environment: number % 2 ? 'STAGING' : 'PRODUCTION',
    })),
  );
  const rated = made[10];
  await app.prisma.feedback.create({
    data: {
      runId: rated?.id ?? '',
      author: 'user',
      botId: bot,
      rating: 'DOWN',
      runCreatedAt: rated?.createdAt ?? new Date(),
    },
  });
  return { tenant, bot };
}

const quick = (page: Page) => page.getByRole('group', { name: 'Quick filters' });
const texts = (page: Page) => quick(page).getByRole('button').allTextContents();
const pressed = (page: Page) => quick(page).locator('[aria-pressed=true]').allTextContents();

describe('the quick filters of runs', () => {
  browserTest('count the runs that match them and the other filters, by keyboard', async () => {
    const { tenant, bot } = await makeBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    const rows = page.locator('.run-link');
    await expect.poll(() => texts(page)).toEqual(['Failed2', 'Rated bad1', 'Slower than 5 s3']);
    await quick(page).getByRole('button', { name: 'Slower than 5 s 3' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(3);
    await expect.poll(() => page.url()).toContain('min_latency_ms=5000');
    await expect.poll(() => texts(page)).toEqual(['Failed0', 'Rated bad1', 'Slower than 5 s3']);
    expect(await pressed(page)).toEqual(['Slower than 5 s3']);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Rated bad 1' }).click();
    await expect.poll(() => rows.count()).toBe(1);
    const environment = page.getByRole('group', { name: 'Environment', exact: true });
    await environment.getByRole('button', { name: 'Staging' }).click();
    await expect.poll(() => texts(page)).toEqual(['Failed0', 'Rated bad0', 'Slower than 5 s0']);
    await environment.getByRole('button', { name: 'Both' }).click();
    await page.getByRole('button', { name: 'Slower than 5 s' }).press('Space');
    await page.getByRole('button', { name: 'Rated bad' }).press('Space');
    await expect.poll(() => rows.count()).toBe(12);
    expect(await pressed(page)).toEqual([]);
    expect(new URL(page.url()).search).toBe('');
  });

  browserTest('are one with the filters of the menu', async () => {
    const { tenant, bot } = await makeBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?status=FAILED`);
    await expect.poll(() => pressed(page)).toEqual(['Failed2']);
    // A pressed chip has no second one.
    expect(await page.getByRole('button', { name: /^status/i }).count()).toBe(0);
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByRole('menuitem', { name: 'status' }).click();
    await expect.poll(() => page.getByRole('radio', { name: 'failed' }).isChecked()).toBe(true);
    await page.getByRole('radio', { name: 'running' }).check();
    await page.getByRole('radio', { name: 'failed' }).check();
    await page.getByRole('radio', { name: 'completed' }).check();
    await expect.poll(() => pressed(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'status: completed' }).waitFor();
    // The count takes the place of the other status.
    await expect.poll(() => texts(page)).toContain('Failed2');
    await page.getByRole('button', { name: 'Failed 2' }).click();
    await expect.poll(() => page.locator('.run-link').count()).toBe(2);
    expect(await page.getByRole('button', { name: 'status: completed' }).count()).toBe(0);
  });

  browserTest('leave the focus with the chip that chose the same condition', async () => {
    const { tenant, bot } = await makeBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?status=RUNNING`);
    await page.getByRole('button', { name: 'status: running' }).press('Enter');
    await page.getByRole('radio', { name: 'failed' }).check();
    await expect.poll(() => pressed(page)).toEqual(['Failed2']);
    await page.keyboard.press('Escape');
    const chip = page.getByRole('button', { name: 'status: failed' });
    await expect.poll(() => chip.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await expect.poll(() => chip.count()).toBe(0);
  });

  browserTest('wait for their counts apart from the list, and follow new runs', async () => {
    const { tenant, bot } = await makeBot();
    const page = await signedIn(tenant.apiKey);
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes(RunCounts.documentId)) await released;
      await route.continue();
    });
    await openLive(page, `/bots/${bot}/runs`);
    await page.getByText('Question 11').waitFor();
    expect(await texts(page)).toEqual(['Failed', 'Rated bad', 'Slower than 5 s']);
    release();
    await expect.poll(() => texts(page)).toContain('Failed2');
    await makeRuns(app, bot, [{ status: 'FAILED' }]);
    await tenant.chat(bot, { message: 'Hi' });
    await page.getByRole('button', { name: '1 new run' }).click();
    await expect.poll(() => texts(page)).toContain('Failed3');
    // A search has no count.
    await page.goto(`/bots/${bot}/runs?text=Question`);
    await page.getByText('Question 11').waitFor();
    await expect.poll(() => texts(page)).toEqual(['Failed', 'Rated bad', 'Slower than 5 s']);
  });

  browserTest('scroll on a narrow window, and cover nothing', async () => {
    const { tenant, bot } = await makeBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?user=%00`);
    await expect.poll(() => texts(page)).toContain('Failed2');
    await assertFits(page);
    await page.setViewportSize({ width: 360, height: 780 });
    await assertAccessible(page);
    const slow = quick(page).getByRole('button', { name: 'Slower than 5 s' });
    await quick(page).getByRole('button', { name: 'Rated bad' }).focus();
    await page.keyboard.press('Tab');
    await slow.and(page.locator(':focus')).waitFor();
    await expect
      .poll(async () => {
        const box = await slow.boundingBox();
        return box !== null && box.x >= 0 && box.x + box.width <= 360;
      })
      .toBe(true);
    const parts = [
      page.getByRole('searchbox'),
      page.getByRole('button', { name: '+ Filter' }),
      quick(page),
      page.getByRole('alert'),
      page.getByRole('table', { name: 'Runs', exact: true }),
    ];
    const boxes = await Promise.all(parts.map((part) => part.boundingBox()));
    for (const [index, box] of boxes.entries()) {
      const above = boxes[index - 1];
      if (above) expect(box?.y).toBeGreaterThanOrEqual(above.y + above.height);
    }
  });
});
