import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import {
  addressOf,
  askToDeploy,
  confirmIn,
  deploy,
  saying,
  untilChecked,
} from './deployments-page.ts';
import { answerWith, lastAsked } from './playground-page.ts';
import { editorOf, paste, studioOf, textOf } from './studio-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn, open } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const DAY_MS = 24 * 60 * 60 * 1_000;
/** More than the controls of any screen. */
const MAX_TABS = 120;

/** Presses Tab, or Shift-Tab, until a control has the focus. */
async function tabTo(page: Page, control: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab') {
  await control.waitFor();
  const hasFocus = () =>
    control.evaluate((element) => {
      const root = element.getRootNode();
      return (root instanceof ShadowRoot ? root : document).activeElement === element;
    });
  const isInEditor = () =>
    page.evaluate(() => document.activeElement?.className === 'studio-editor');
  for (let count = 0; count < MAX_TABS; count += 1) {
    if (await hasFocus()) return;
    // In the editor Tab indents, but for two seconds after Escape.
    if (await isInEditor()) await page.keyboard.press('Escape');
    await page.keyboard.press(key);
  }
  throw new Error(`The key ${key} does not reach ${control}.`);
}

const focusedTag = (page: Page) => page.evaluate(() => document.activeElement?.tagName);
const focusedText = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

async function press(page: Page, control: Locator, key?: 'Tab' | 'Shift+Tab') {
  await tabTo(page, control, key);
  await expect.poll(() => control.isEnabled()).toBe(true);
  await page.keyboard.press('Enter');
}

const inMenu = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });

/** Asks the bot in the playground by keyboard. @returns the prompt that the model received. */
async function promptInPlayground(page: Page, reply: string) {
  answerWith(app, reply);
  await press(page, inMenu(page, 'Playground'), 'Shift+Tab');
  await tabTo(page, page.getByLabel('Message', { exact: true }));
  await page.keyboard.type('Hello');
  await page.keyboard.press('Enter');
  await page.getByText(reply).waitFor();
  return lastAsked(app)[0]?.content;
}

browserTest(
  'a support engineer finds a reply of yesterday, and its reason, in three clicks',
  async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "You sell lamps."');
    const chat = async (user: string, message: string, reply: string) => {
      answerWith(app, reply);
      const response = await tenant.chat(bot, { message }, { 'x-session-id': user });
      return response.headers.get('x-run-id') ?? '';
    };
    await chat('user-41', 'Where is my order?', 'It left today.');
    const yesterday = await chat('user-42', 'Is the red lamp in stock?', 'We have two red lamps.');
    await chat('user-42', 'Thank you', 'You are welcome.');
    await app.prisma.run.update({
      where: { id: yesterday },
      data: { createdAt: new Date(Date.now() - DAY_MS) },
    });
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    await expect.poll(() => page.locator('.run-link').count()).toBe(3);
    let clicks = 0;
    const click = async (control: Locator) => {
      clicks += 1;
      await control.click();
    };
    await click(page.getByRole('button', { name: 'user', exact: true }));
    await expect.poll(() => focusedTag(page)).toBe('INPUT');
    await page.keyboard.type('user-42');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.run-link').count()).toBe(2);
    await click(page.getByRole('link', { name: 'Is the red lamp in stock?' }));
    await page.getByText('We have two red lamps.').first().waitFor();
    await page
      .getByRole('button', { name: /Model call/ })
      .first()
      .waitFor();
    await click(page.getByRole('button', { name: 'Prompt', exact: true }));
    await page.getByText('You sell lamps.').first().waitFor();
    expect(clicks).toBe(3);
  },
);

describe('by keyboard alone', () => {
  browserTest('a new team changes a prompt and rolls it back', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await deploy(tenant, bot, { source: saying('You sell lamps.') });
    const page = await open();
    await page.goto('/bots');
    await tabTo(page, page.getByLabel('API key'));
    await page.keyboard.type(tenant.apiKey);
    await page.keyboard.press('Enter');
    await press(page, page.getByRole('main').getByRole('link', { name: 'Bot', exact: true }));
    await press(page, inMenu(page, 'Studio'), 'Shift+Tab');
    await tabTo(page, editorOf(page));
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(saying('You sell chairs.'));
    // This one closes the list of completions.
    await page.keyboard.press('Escape');
    await press(page, page.getByRole('button', { name: 'Deploy…', exact: true }), 'Shift+Tab');
    const dialog = page.getByRole('dialog', { name: 'Deploy to production' });
    await untilChecked(dialog);
    // The first field has the focus.
    await page.keyboard.type('Chairs');
    await press(page, confirmIn(dialog));
    await dialog.getByText('v2 was deployed to production').waitFor();
    await expect.poll(() => focusedText(page)).toBe('Close');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => focusedTag(page)).toBe('BUTTON');
    expect(await promptInPlayground(page, 'Chairs it is.')).toContain('You sell chairs.');

    await press(page, inMenu(page, 'Deployments'), 'Shift+Tab');
    await press(page, page.getByRole('button', { name: /^v1 / }));
    await press(page, page.getByRole('button', { name: 'Roll back to this…' }));
    const rollback = page.getByRole('dialog', { name: 'Roll back to v1' });
    await press(page, rollback.getByRole('button', { name: 'Roll back to v1' }));
    await rollback.getByText('v3 was deployed to production').waitFor();
    await page.keyboard.press('Enter');
    expect(await promptInPlayground(page, 'Lamps again.')).toContain('You sell lamps.');
  });

  browserTest('a deployment of staging is promoted', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await deploy(tenant, bot, { source: saying('Live.') });
    await deploy(tenant, bot, { source: saying('Staged.'), environment: 'STAGING' });
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/playground`);
    await press(page, inMenu(page, 'Deployments'));
    await press(page, page.getByRole('button', { name: /^v2 / }));
    await press(page, page.getByRole('button', { name: 'Promote to production…' }));
    const dialog = page.getByRole('dialog', { name: 'Promote v2 to production' });
    await untilChecked(dialog);
    await press(page, confirmIn(dialog, 'Promote to production'));
    await dialog.getByText('v3 was deployed to production').waitFor();
    await page.keyboard.press('Enter');
    expect(await promptInPlayground(page, 'Promoted.')).toContain('Staged.');
  });
});

browserTest('two accounts side by side see nothing of each other', async () => {
  const sides = await Promise.all(
    ['lamps', 'chairs'].map(async (goods) => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(`prompt "You sell ${goods}."`);
      const response = await tenant.chat(bot, { message: `Are there ${goods}?` });
      const run = response.headers.get('x-run-id');
      const page = await signedIn(tenant.apiKey);
      return { goods, bot, run, page };
    }),
  );
  const [lamps, chairs] = sides;
  if (!lamps || !chairs) throw new Error('There are two sides.');
  for (const [own, other] of [
    [lamps, chairs],
    [chairs, lamps],
  ] as const) {
    const { page } = own;
    const main = page.getByRole('main');
    await main.locator(`a[href*="${own.bot}"]`).first().waitFor();
    expect(await page.content()).not.toContain(other.bot);
    await page.goto(`/bots/${own.bot}/runs`);
    await main.getByText(`Are there ${own.goods}?`).first().waitFor();
    for (const path of [
      `/runs/${other.run}`,
      `/bots/${other.bot}/runs`,
      studioOf(other.bot),
      addressOf(other.bot),
    ]) {
      await page.goto(path);
      await main
        .getByText(/There is no|not found|no access|may not/i)
        .first()
        .waitFor();
      expect(await page.content()).not.toContain(other.goods);
    }
  }
});

browserTest('a pasted definition of 256 KiB is deployed, and the editor answers keys', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  const end = saying('Long.').slice('agentlang 5\n'.length);
  const line = `# ${'long '.repeat(15)}\n`;
  const room = 256 * 1024 - 'agentlang 5\n'.length - end.length - 100;
  const source = `agentlang 5\n${line.repeat(Math.floor(room / line.length))}${end}`;
  const page = await signedIn(tenant.apiKey, studioOf(bot));
  await editorOf(page).focus();
  await page.keyboard.press('Control+a');
  await paste(page, source);
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# Typed');
  await page.keyboard.press('Enter');
  await expect.poll(() => textOf(page)).toMatch(/^# Typed\nagentlang 5\n/);
  const dialog = await askToDeploy(page);
  await dialog.getByText('# Typed', { exact: true }).first().waitFor();
  await confirmIn(dialog).click();
  await dialog.getByText('v2 was deployed to production').waitFor();
  const deployed = await app.prisma.deployment.findFirstOrThrow({
    where: { botId: bot, version: 2 },
  });
  expect(deployed.source).toBe(`# Typed\n${source}`);
});
