import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { WEB } from '../channels/web/visitors.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { write } from './studio-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const SVG = '<svg viewBox="0 0 9 9" onload="alert(1)"><path d="M0 0h9v9z" fill="#403cbf"/></svg>';

const open = async ({ apiKey }: Tenant, bot: string) => {
  const page = await signedIn(apiKey, `/bots/${bot}/chat-page`);
  await page.getByLabel('Messages a minute').waitFor();
  return page;
};

const preview = (page: Page) => page.getByRole('region', { name: 'The chat page' });

const deploy = (tenant: Tenant, bot: string, source: string, environment = 'PRODUCTION') =>
  tenant.graphql(
    'mutation ($bot: ID!, $input: DeployInput!) { deploy(botId: $bot, input: $input) { id status } }',
    { bot, input: { source, environment } },
  );

describe('the screen of a chat page', () => {
  browserTest(
    'has the address, the settings of visitors, and is reached from the list',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(WEB);
      const page = await signedIn(tenant.apiKey);
      await page.getByRole('button', { name: 'Actions for Bot' }).click();
      await page.getByRole('menuitem', { name: 'Chat page' }).click();
      const link = page.getByRole('link', { name: `${app.url}/chat/${bot}` });
      expect((await fetch((await link.getAttribute('href')) ?? '')).status).toBe(200);
      await page.getByText('Web connected').waitFor();
      const save = page.getByRole('button', { name: 'Save' });
      await expect.poll(() => save.getAttribute('title')).toBe('Nothing has changed.');
      await assertAccessible(page);
      await assertFits(page);

      await page.getByText('No page may contain the chat yet.').waitFor();
      await page.getByRole('link', { name: 'Visitors' }).click();
      const origins = page.getByLabel('Pages that may contain the chat');
      await origins.fill('https://shop.example\n\nshop.example\n https://other.example/');
      await save.click();
      await page
        .getByText('Lines 3, 4: must be an origin, such as https://shop.example, or *.')
        .waitFor();
      await assertAccessible(page);
      await origins.fill('https://shop.example\n\nhttps://other.example ');
      await page.getByLabel('New conversations an hour').fill('5');
      await page.getByLabel('Messages a minute').fill('7');
      await save.click();
      // The toast passes by.
      await page.getByText('Saved the settings of visitors.').waitFor();
      await page.getByText('It works in the pages whose origins Visitors names.').waitFor();
      expect(await app.prisma.bot.findUniqueOrThrow({ where: { id: bot } })).toMatchObject({
        webOrigins: ['https://shop.example', 'https://other.example'],
        visitorSessionsPerHour: 5,
        visitorMessagesPerMinute: 7,
      });
    },
  );

  browserTest(
    'has the line of the widget with the hash of its script, and the policy',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot('channel web { accent "#403cbf" }');
      const page = await open(tenant, bot);
      const script = Buffer.from(await (await fetch(`${app.url}/widget.js`)).arrayBuffer());
      const hash = createHash('sha384').update(script).digest('base64');
      const line = (integrity: string) =>
        `<script src="${app.url}/widget.js" data-bot="${bot}" data-accent="#403cbf"${integrity} async></script>`;
      await page.getByText(line(` integrity="sha384-${hash}" crossorigin="anonymous"`)).waitFor();
      await page.getByLabel('With the hash of the script').uncheck();
      await page.getByText(line('')).waitFor();
      await page.getByText(`script-src ${app.url};\nframe-src ${app.url};`).waitFor();
    },
  );

  browserTest(
    'previews production, staging and the text of the Studio, in both themes',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(
        'channel web { title "In production" welcome "Hello" suggestions "One" }',
      );
      await deploy(tenant, bot, agent('channel web { title "In staging" }'), 'STAGING');
      const page = await open(tenant, bot);
      await preview(page).getByText('In production').waitFor();
      await preview(page).getByRole('button', { name: 'One' }).waitFor();
      await page.getByRole('button', { name: 'Staging' }).click();
      await preview(page).getByText('In staging').waitFor();
      for (const [theme, paper] of [
        ['Dark', 'rgb(18, 20, 19)'],
        ['Light', 'rgb(253, 253, 252)'],
      ] as const) {
        await page.getByRole('button', { name: theme }).click();
        await expect
          .poll(() =>
            preview(page).evaluate((element) => getComputedStyle(element).backgroundColor),
          )
          .toBe(paper);
      }
      await assertAccessible(page);
      await page.getByRole('button', { name: 'Studio', exact: true }).click();
      await page
        .getByText('The Studio has no changed text with channel web in this browser.')
        .waitFor();

      const studio = await page.context().newPage();
      await studio.goto(`/bots/${bot}/studio`);
      await write(
        studio,
        agent('channel web { title "In the Studio" accent "#c2185b" welcome "Draft" }'),
      );
      await preview(page).getByText('In the Studio').waitFor();
      await studio.getByRole('region', { name: 'The chat page' }).getByText('Draft').waitFor();
    },
  );

  browserTest('shows no text of staging in the preview of a broken draft', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('channel web { title "In production" }');
    await deploy(tenant, bot, agent('channel web { title "In staging" }'), 'STAGING');
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/studio`);
    await write(page, 'agent { channel web {');
    await page.getByText('Changes are kept in this browser').first().waitFor();
    await page.goto(`/bots/${bot}/chat-page`);
    await page.getByRole('button', { name: 'Staging' }).click();
    await preview(page).getByText('In staging').waitFor();
    await page.getByRole('button', { name: 'Studio', exact: true }).click();
    await page
      .getByText('The Studio has no changed text with channel web in this browser.')
      .waitFor();
  });

  browserTest('uploads and removes a logo, and says what is wrong with a file', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('channel web { title "acme" }');
    const page = await open(tenant, bot);
    await expect.poll(() => preview(page).locator('.chat-initial').innerText()).toBe('A');
    const file = page.locator('input[type="file"]');
    const choose = (name: string, text: string) =>
      file.setInputFiles({ name, mimeType: 'image/svg+xml', buffer: Buffer.from(text) });
    await choose('page.svg', '<html></html>');
    await page.getByText('The logo must be an SVG or PNG image.').waitFor();
    await choose('huge.svg', SVG.repeat(1_000));
    await page.getByText('The logo must not be larger than 32 KiB.').waitFor();
    await choose('logo.svg', SVG);
    await page.getByRole('img', { name: 'The logo' }).waitFor();
    await expect
      .poll(() =>
        preview(page)
          .locator('img.chat-logo')
          .evaluate((image) => (image as HTMLImageElement).naturalWidth > 0),
      )
      .toBe(true);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Removed the logo.').waitFor();
    await expect.poll(() => preview(page).locator('.chat-initial').count()).toBe(1);
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
    const page = await open(tenant, bot);
    const states = ['Telegram unavailable', 'The variable TOKEN is not a token of a Telegram bot.'];
    for (const text of states) await page.getByText(text).waitFor();
    await page.getByText('There is no chat page yet.').waitFor();
    await page.goto(`/bots/${bot}/deployments/${data.deploy.id}`);
    const facts = page.locator('.entry-facts');
    for (const text of states) await facts.getByText(text).waitFor();
  });
});
