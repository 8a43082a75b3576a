import { beforeAll, describe, expect } from 'vitest';
import { Keys } from '../../src/generated/operations/console.ts';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('the list of bots', () => {
  browserTest('shows the active deployments and the runs of the last 24 hours', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const recent = { createdAt: new Date(Date.now() - 60_000), latencyMs: 1_500 };
    await makeRuns(app, bot, [recent, recent, { ...recent, status: 'FAILED' }]);
    const page = await signedIn(tenant.apiKey);
    const row = page.getByRole('row').filter({ has: page.getByTitle(`Copy ${bot}`) });
    await row.getByRole('img', { name: '3 runs in the last 24 hours, 1 failed' }).waitFor();
    await expect.poll(() => row.textContent()).toMatch(/deployed.*not deployed.*31.*1\.5 s/);
    for (const width of [360, 767, 768, 1023, 1024]) {
      await page.setViewportSize({ width, height: 800 });
      for (const text of [/^v1/, 'not deployed', '1.5 s'])
        await expect.poll(() => row.getByText(text).first().isVisible()).toBe(true);
    }
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('names the key that deployed each version, with one request for all', async () => {
    const tenant = await app.tenant();
    // Before its first use, since the server caches keys.
    const { accountId } = tenant;
    await app.prisma.apiKey.updateMany({ where: { accountId }, data: { name: 'Night desk' } });
    const bots = [await tenant.bot(null), await tenant.bot(null)];
    const deploy = `mutation ($id: ID!, $source: String!) { deploy(botId: $id, input: { source: $source }) { id } }`;
    for (const id of bots) await tenant.graphql(deploy, { id, source: agent() });
    const page = await signedIn(await tenant.key(), '/bots/new');
    let reads = 0;
    page.on('request', (request) => {
      if (request.postData()?.includes(Keys.documentId)) reads += 1;
    });
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Bots', exact: true })
      .click();
    for (const id of bots) {
      const row = page.getByRole('row').filter({ has: page.getByTitle(`Copy ${id}`) });
      await row.getByText('by Night desk').waitFor();
    }
    expect(reads).toBe(1);
    await assertFits(page);
    const deployer = await signedIn(tenant.apiKey);
    await deployer.getByText('by Night desk (this key)').first().waitFor();
    const limited = await signedIn(await tenant.key({ scopes: ['CHAT'] }));
    await limited
      .getByText(/^by key …\w{6}$/)
      .first()
      .waitFor();
  });

  browserTest(
    'deletes a bot after its id is typed, even if another tab has deleted it',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      const page = await signedIn(tenant.apiKey);
      await page.getByRole('button', { name: 'Actions for Bot' }).click();
      await page.getByRole('menuitem', { name: 'Delete…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete Bot?' });
      await assertAccessible(page);
      await dialog.getByLabel(`Type ${bot} to confirm`).fill('bot');
      await page.keyboard.press('Enter');
      expect(await app.prisma.bot.count({ where: { id: bot } })).toBe(1);
      await tenant.graphql(`mutation { deleteBot(id: "${bot}") }`);
      await dialog.getByLabel(`Type ${bot} to confirm`).fill(bot);
      await page.keyboard.press('Enter');
      await page.getByText('Deleted Bot.').waitFor();
      await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
    },
  );

  browserTest('renames a bot, and reports that another tab has deleted it', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const page = await signedIn(tenant.apiKey);
    await page.getByRole('button', { name: 'Actions for Bot' }).click();
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rename Bot' });
    const rename = dialog.getByRole('button', { name: 'Rename' });
    await expect.poll(() => rename.getAttribute('title')).toBe('Type a new name first.');
    await dialog.getByLabel('Name').fill('Order <b>desk</b>');
    await assertAccessible(page);
    await rename.click();
    await page.getByRole('link', { name: 'Order <b>desk</b>' }).waitFor();
    await page.getByRole('button', { name: 'Actions for Order' }).click();
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    await tenant.graphql(`mutation { deleteBot(id: "${bot}") }`);
    await page.getByRole('dialog').getByLabel('Name').fill('Gone');
    await page.keyboard.press('Enter');
    await page.getByText(`There is no bot "${bot}".`).waitFor();
  });

  browserTest('names the missing scopes of a key', async () => {
    const tenant = await app.tenant();
    await tenant.bot(null);
    const page = await signedIn(await tenant.key({ scopes: ['CHAT'] }));
    const button = page.getByRole('button', { name: 'New bot' });
    await expect.poll(() => button.getAttribute('title')).toBe('Your key lacks the scope admin.');
    await page.getByText('Your key lacks the scope runs.').waitFor();
  });

  browserTest('offers no new bot to a key that is restricted to some bots', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const reason = 'Your key is restricted to some bots and cannot create new ones.';
    const page = await signedIn(await tenant.key({ botIds: [bot] }));
    const button = page.getByRole('button', { name: 'New bot' });
    await expect.poll(() => button.getAttribute('title')).toBe(reason);
    await expect.poll(() => page.getByRole('link', { name: 'New bot' }).count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'New API key' }).waitFor();
    await expect.poll(() => page.getByRole('option', { name: 'New bot' }).count()).toBe(0);
    await page.goto('/bots/new');
    await page.getByLabel('Name').fill('Night desk');
    const create = page.getByRole('button', { name: 'Create bot' });
    await expect.poll(() => create.getAttribute('title')).toBe(reason);
    await tenant.graphql(`mutation { deleteBot(id: "${bot}") }`);
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Bots', exact: true })
      .click();
    await page.getByText(`${reason} Ask the owner`).waitFor();
  });

  browserTest('shows a failed request with its id, and repeats it', async () => {
    const tenant = await app.tenant();
    await tenant.bot(null);
    const page = await signedIn(tenant.apiKey, '/bots/new');
    await page.route('**/graphql', (route) =>
      route.fulfill({
        headers: { 'x-request-id': 'req_1' },
        json: { errors: [{ message: 'Broken.', extensions: { code: 'INTERNAL_ERROR' } }] },
      }),
    );
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Bots', exact: true })
      .click();
    await page.getByText('Broken.').first().waitFor();
    await page.getByTitle('Copy req_1').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('not deployed').first().waitFor();
  });

  browserTest('can be used with only the keyboard', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const page = await signedIn(tenant.apiKey);
    await page
      .getByRole('row')
      .filter({ has: page.getByTitle(`Copy ${bot}`) })
      .waitFor();
    const focused = () =>
      page.evaluate(
        () =>
          document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent,
      );
    const reach = async (name: string) => {
      for (let presses = 0; presses < 30 && (await focused()) !== name; presses += 1)
        await page.keyboard.press('Tab');
      await expect.poll(focused).toBe(name);
    };
    await reach('Actions for Bot');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Open');
    await page.keyboard.press('ArrowUp');
    await expect.poll(focused).toBe('Delete…');
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe('Actions for Bot');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Open');
    await page.keyboard.press('Enter');
    await page.getByLabel('Definition').waitFor();
  });
});
