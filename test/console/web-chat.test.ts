import { beforeAll, describe, expect } from 'vitest';
import { WEB } from '../channels/web/visitors.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const openDialog = async (tenant: Tenant) => {
  const page = await signedIn(tenant.apiKey);
  await page.getByRole('button', { name: 'Actions for Bot' }).click();
  await page.getByRole('menuitem', { name: 'Web chat…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Web chat of Bot' });
  await dialog.getByLabel('Messages a minute').waitFor();
  return { page, dialog };
};

describe('the web chat of a bot', () => {
  browserTest('has the address of the page, the line of the widget, and the settings', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(WEB);
    const { page, dialog } = await openDialog(tenant);
    await expect
      .poll(() => dialog.getByRole('listitem').allInnerTexts())
      .toEqual(['Web connected']);
    const link = dialog.getByRole('link', { name: `${app.url}/chat/${bot}` });
    expect((await fetch((await link.getAttribute('href')) ?? '')).status).toBe(200);
    await dialog
      .getByText(`<script src="${app.url}/widget.js" data-bot="${bot}" async></script>`)
      .waitFor();
    const save = dialog.getByRole('button', { name: 'Save' });
    await expect.poll(() => save.getAttribute('title')).toBe('Nothing has changed.');
    await assertAccessible(page);
    await assertFits(page);

    const origins = dialog.getByLabel('Pages that may contain the chat');
    await origins.fill('https://shop.example\n\nshop.example\n https://other.example/');
    await save.click();
    await dialog
      .getByText('Lines 3, 4: must be an origin, such as https://shop.example, or *.')
      .waitFor();
    await assertAccessible(page);
    await origins.fill('https://shop.example\n\nhttps://other.example ');
    await dialog.getByLabel('New conversations an hour').fill('5');
    await dialog.getByLabel('Messages a minute').fill('7');
    await save.click();
    await page.getByText('Saved the web chat of Bot.').waitFor();
    expect(await app.prisma.bot.findUniqueOrThrow({ where: { id: bot } })).toMatchObject({
      webOrigins: ['https://shop.example', 'https://other.example'],
      visitorSessionsPerHour: 5,
      visitorMessagesPerMinute: 7,
    });
  });

  browserTest('explains how to get a page, and why a channel is unavailable', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const source = agent('channel telegram { token env.TOKEN }');
    const { data } = await tenant.graphql(
      `mutation ($source: String!) { deploy(botId: "${bot}", input: {
        source: $source, envVars: [{ name: "TOKEN", value: "none" }]
      }) { id } }`,
      { source },
    );
    const { page, dialog } = await openDialog(tenant);
    const states = ['Telegram unavailable', 'The variable TOKEN is not a token of a Telegram bot.'];
    for (const text of states) await dialog.getByText(text).waitFor();
    await dialog.getByText('There is no chat page yet.').waitFor();
    await page.goto(`/bots/${bot}/deployments/${data.deploy.id}`);
    const facts = page.locator('.entry-facts');
    for (const text of states) await facts.getByText(text).waitFor();
  });
});
