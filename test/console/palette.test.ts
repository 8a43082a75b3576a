import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('the command palette', () => {
  browserTest('opens every screen with only the keyboard, recent commands first', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await app.prisma.bot.update({ where: { id: bot }, data: { name: 'Order desk' } });
    const page = await signedIn(tenant.apiKey);
    const text = page.getByRole('combobox', { name: /^Go to/ });
    const active = () =>
      text.evaluate((input) => {
        const id = input.getAttribute('aria-activedescendant') ?? '';
        return document.getElementById(id)?.textContent;
      });
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Order desk' }).waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.keyboard.type('odsk');
    await expect.poll(active).toContain('Order desk');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`/bots/${bot}`);

    await page.keyboard.press('Meta+k');
    await text.waitFor();
    await page.keyboard.type('api key');
    await expect.poll(active).toContain('API keys');
    await page.keyboard.press('ArrowDown');
    await expect.poll(active).toContain('New API key');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByText('this session').waitFor();

    await page.keyboard.press('Control+k');
    const recent = page.getByRole('group', { name: 'Recent' }).getByRole('option');
    await expect.poll(() => recent.allTextContents()).toEqual(['API keys', `Order desk${bot}`]);
    await page.keyboard.press('Escape');
    await text.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('this session').waitFor();
    await page.keyboard.press('Control+k');
    await expect.poll(() => recent.count()).toBe(2);
    await page.keyboard.type('no such thing');
    await page.getByText('No match.').waitFor();
    await assertAccessible(page);
    await page.keyboard.press('Control+k');
    await text.waitFor({ state: 'detached' });
  });

  browserTest('finds a run and its bot by the id of the run', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{}]);
    const page = await signedIn(tenant.apiKey, '/settings');
    await page.getByRole('button', { name: 'Go to…' }).click();
    const text = page.getByRole('combobox', { name: /^Go to/ });
    await text.fill('run_00000000000000000000000000');
    await page.getByText(/There is no run/).waitFor();
    await text.fill(run?.id ?? '');
    await page.getByRole('option', { name: 'Bot, the bot of this run' }).click();
    await expect.poll(() => page.url()).toContain(`/bots/${bot}`);
    await page.keyboard.press('Control+k');
    await text.fill(run?.id ?? '');
    await page.getByRole('option', { name: 'A run of Bot' }).click();
    await expect.poll(() => page.url()).toBe(`${app.url}/runs/${run?.id}`);
  });

  browserTest(
    'finds each of more than 100 bots by its name, as the form of a key does',
    async () => {
      const tenant = await app.tenant();
      const oldest = await tenant.bot(null);
      await app.prisma.bot.update({ where: { id: oldest }, data: { name: 'Oldest desk' } });
      const newer = Array.from({ length: 100 }, (_, at) => ({
        id: `${oldest}-${at}`,
        name: `Shop ${at}`,
        accountId: tenant.accountId,
      }));
      await app.prisma.bot.createMany({ data: newer });
      const page = await signedIn(tenant.apiKey, '/settings/keys/new');
      const dialog = page.getByRole('dialog', { name: 'New API key' });
      await dialog.getByLabel('Only some bots').check();
      await dialog.getByLabel('Shop 99', { exact: false }).waitFor();
      await dialog.getByLabel('Find bots').fill('LDEST');
      await dialog.getByLabel(/^Oldest desk/).check();
      await assertAccessible(page);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /^Go to/ }).fill('oldest');
      await page.getByRole('option', { name: 'Oldest desk' }).click();
      await expect.poll(() => page.url()).toContain(`/bots/${oldest}`);
    },
  );

  browserTest('changes the theme, and signs out', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('dark');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.evaluate(() => document.documentElement.dataset.theme))
      .toBe('dark');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('sign out');
    await page.keyboard.press('Enter');
    await page.getByLabel('API key').waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  browserTest(
    'offers only the commands that the key allows, and does not open over a dialog',
    async () => {
      const tenant = await app.tenant();
      const page = await signedIn(await tenant.key({ scopes: ['CHAT'] }));
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: 'Usage' }).waitFor();
      for (const name of ['New bot', 'API keys', 'Audit log', 'Accounts'])
        await expect.poll(() => page.getByRole('option', { name }).count()).toBe(0);
      await page.getByRole('combobox').fill('run_00000000000000000000000000');
      await page.getByText('Your key lacks the scope runs.').waitFor();

      const admin = await signedIn(tenant.apiKey, '/settings/keys/new');
      await admin.getByLabel('Name').waitFor();
      await admin.keyboard.press('Control+k');
      await expect.poll(() => admin.getByRole('dialog').count()).toBe(1);
    },
  );
});
