/**
 * `npm run screenshots`: takes a picture of every screen of the console, at three widths and in both themes, from a server
 * of its own with made-up data. It writes them to `coverage/screenshots`, which git ignores.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openBrowser } from '../helpers/chromium.ts';
import { startServer, temporaryDirectory } from '../helpers/server.ts';

const DIRECTORY = join(import.meta.dirname, '../../coverage/screenshots');
const SIZES = [
  [360, 780],
  [1024, 768],
  [1440, 900],
] as const;

/** Each screen by the name of its files, with what leads to it. */
const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  bots: async (page) => {
    await page.goto('/bots');
    await page.getByRole('img').first().waitFor();
  },
  'bots-menu': (page) => page.getByRole('button', { name: 'Actions for Demo' }).click(),
  'bots-delete': async (page) => {
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'new-bot': async (page) => {
    await page.goto('/bots/new');
    await page.getByLabel('Name').fill('Demo');
    await page.getByText('is taken').waitFor();
  },
  definition: async (page) => {
    await page.goto('/bots/order-desk/start');
    const definition = page.getByLabel('Definition');
    await definition.fill((await definition.inputValue()).replace('prompt', 'promt'));
    await page.getByText('unknown setting').first().waitFor();
  },
  conversation: async (page) => {
    await page.goto('/bots/demo/start');
    await page.getByLabel('Message').fill('Hello! Please call time.now.');
    await page.keyboard.press('Enter');
    await page.getByText(/first text after .* tokens/).waitFor();
  },
  'not-found': (page) => page.goto('/bots/x/nothing'),
};

const server = await startServer({ dataDirectory: await temporaryDirectory() });
const link = /http:\S+\?code=\S+/.exec(server.output())?.[0] ?? '';
const key = /parley_sk_\w+/.exec(server.output())?.[0] ?? '';
const input = '{ id: "order-desk", name: "Order desk" }';
await fetch(`${server.url}/graphql`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ query: `mutation { createBot(input: ${input}) { id } }` }),
});
await mkdir(DIRECTORY, { recursive: true });
const browser = await openBrowser();
try {
  const context = await browser.newContext({ baseURL: server.url, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto('/bots');
  await page.getByLabel('API key').waitFor();
  await takeAll(page, 'sign-in');
  await page.goto(link);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  for (const [name, lead] of Object.entries(SCREENS)) {
    await lead(page);
    await takeAll(page, name);
  }
} finally {
  await browser.close();
  await server.stop('SIGTERM');
}
console.log(`Wrote ${DIRECTORY}`);

async function takeAll(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: join(DIRECTORY, `${name}-${width}-${colorScheme}.png`) });
    }
  }
}
