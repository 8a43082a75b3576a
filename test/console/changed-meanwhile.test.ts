import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { WEB } from '../channels/web/visitors.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { answerAsShop, type Shop, startShop } from './asking-bot.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
let shop: Shop;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  shop = await startShop(() => app);
  app = await startApp({ allowedHosts: [shop.site.host] });
});
afterAll(() => shop.site.close());

const CONFLICT = 'Somebody else changed these settings while you edited them.';

/** Opens the same address in two tabs of one browser. */
async function inTwoTabs(key: string, path: string): Promise<[one: Page, two: Page]> {
  const one = await signedIn(key, path);
  const two = await one.context().newPage();
  await two.goto(path);
  return [one, two];
}

describe('settings that two tabs change', () => {
  browserTest('of visitors keep what the later tab typed, and name the stored value', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(WEB);
    const [one, two] = await inTwoTabs(tenant.apiKey, `/bots/${bot}/chat-page`);
    const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
    const stored = () =>
      app.prisma.bot.findUniqueOrThrow({
        where: { id: bot },
        select: { visitorMessagesPerMinute: true, visitorSessionsPerHour: true },
      });
    await two.getByLabel('Messages a minute').fill('9');
    await one.getByLabel('Messages a minute').fill('7');
    await one.getByLabel('New conversations an hour').fill('5');
    await save(one);
    await one.getByText('Saved the settings of visitors.').waitFor();
    await save(two);
    const conflict = two.getByRole('alert').filter({ hasText: CONFLICT });
    await conflict.getByText('Messages a minute: 7').waitFor();
    await assertAccessible(two);
    await assertFits(two);
    // A field that the tab did not touch follows the stored value.
    await expect.poll(() => two.getByLabel('New conversations an hour').inputValue()).toBe('5');
    await expect.poll(() => two.getByLabel('Messages a minute').inputValue()).toBe('9');
    expect(await stored()).toEqual({ visitorMessagesPerMinute: 7, visitorSessionsPerHour: 5 });
    await save(two);
    await two.getByText('Saved the settings of visitors.').waitFor();
    await conflict.waitFor({ state: 'detached' });
    expect(await stored()).toEqual({ visitorMessagesPerMinute: 9, visitorSessionsPerHour: 5 });
  });

  browserTest('of the gate keep what the later tab chose, and name the stored value', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const [one, two] = await inTwoTabs(tenant.apiKey, `/bots/${bot}/evaluations`);
    const open = async (page: Page) => {
      await page.getByRole('button', { name: 'Set up…' }).click();
      return page.getByRole('dialog', { name: 'Gate of production' });
    };
    const later = await open(two);
    await later.getByLabel('Repeat').selectOption('2 times');
    const earlier = await open(one);
    await earlier.getByLabel('Repeat').selectOption('3 times');
    await earlier.getByRole('button', { name: 'Save' }).click();
    await earlier.waitFor({ state: 'detached' });
    await later.getByRole('button', { name: 'Save' }).click();
    await later.getByText(CONFLICT).waitFor();
    await later.getByText('Repeat: 3').waitFor();
    await assertAccessible(two);
    await expect.poll(() => later.getByLabel('Repeat').inputValue()).toBe('2');
    await later.getByRole('button', { name: 'Save' }).click();
    await later.waitFor({ state: 'detached' });
    await two.getByText('all tests must pass, each 2 times.').waitFor();
  });

  browserTest(
    'of the name of a bot keep what the later tab typed, and name the stored one',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      const [one, two] = await inTwoTabs(tenant.apiKey, '/bots');
      const open = async (page: Page, name: string) => {
        await page.getByRole('button', { name: 'Actions for Bot' }).click();
        await page.getByRole('menuitem', { name: 'Rename…' }).click();
        const dialog = page.getByRole('dialog', { name: 'Rename Bot' });
        await dialog.getByLabel('Name').fill(name);
        return { dialog, rename: () => dialog.getByRole('button', { name: 'Rename' }).click() };
      };
      const later = await open(two, 'Night desk');
      const earlier = await open(one, 'Day desk');
      await earlier.rename();
      await one.getByText('Renamed Bot to Day desk.').waitFor();
      await later.rename();
      await later.dialog.getByText(CONFLICT).waitFor();
      await later.dialog.getByText('Name: Day desk').waitFor();
      await assertAccessible(two);
      await expect.poll(() => later.dialog.getByLabel('Name').inputValue()).toBe('Night desk');
      const stored = async () =>
        (await app.prisma.bot.findUniqueOrThrow({ where: { id: bot }, select: { name: true } }))
          .name;
      expect(await stored()).toBe('Day desk');
      await later.rename();
      await two.getByText('Renamed Day desk to Night desk.').waitFor();
      await two.getByRole('button', { name: 'Undo' }).click();
      await expect.poll(stored).toBe('Day desk');
    },
  );
});

describe('what is deleted while it is open', () => {
  browserTest('is named by the inbox, whose list no longer has the approval', async () => {
    const tenant = await app.tenant();
    const bot = await shop.bot(tenant);
    answerAsShop(app);
    const runId = await shop.ask(tenant, bot);
    await shop.ask(tenant, bot, 'bob');
    const [, id = ''] = await shop.waiting(bot);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/approvals/${id}`);
    const panel = page.getByRole('region', { name: 'Open approval' });
    await panel.getByLabel('Note').fill('A note');
    await app.prisma.run.delete({ where: { id: runId } });
    await panel.getByRole('button', { name: /^Approve/ }).click();
    await panel.getByRole('heading', { name: 'This bot has no such approval' }).waitFor();
    const rows = page.getByRole('list', { name: 'Approvals' }).getByRole('link');
    await expect.poll(() => rows.count()).toBe(1);
    await rows.click();
    await panel.getByText(/^asked .* for bob ·/).waitFor();
    await assertAccessible(page);
  });

  browserTest('stays on the page of a run, on its other tabs too', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{ input: 'Are you there?', response: 'Yes.' }]);
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
    await page.getByText('Are you there?').first().waitFor();
    await app.prisma.run.delete({ where: { id: run?.id ?? '' } });
    for (const tab of ['Prompt', 'Events', 'Steps']) {
      await page.getByRole('button', { name: tab, exact: true }).click();
      await page.getByText('Are you there?').first().waitFor();
    }
    await page.getByRole('button', { name: 'Good reply' }).click();
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('This run was deleted while it was open.').waitFor();
    await page.getByText('Yes.').first().waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });
});
