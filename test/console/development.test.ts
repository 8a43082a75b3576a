import { createServer } from 'vite';
import { beforeAll, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

browserTest('the development server shows the console, and the page of all its parts', async () => {
  process.env.PARLEY_URL = app.url;
  const server = { host: '127.0.0.1', port: 0, hmr: false };
  const vite = await createServer({ logLevel: 'error', server });
  atTheEnd(() => vite.close());
  await vite.listen();
  const { origin } = new URL(vite.resolvedUrls?.local[0] ?? '');
  const tenant = await app.tenant();
  const page = await signedIn(tenant.apiKey, '/console/parts', origin);
  await page.getByRole('heading', { name: 'Parts' }).waitFor();
  await page.getByRole('button', { name: 'Show a toast with undo' }).click();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await page.getByText('Renamed back.').waitFor();
  await assertAccessible(page);
  await assertFits(page);
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Bots', exact: true })
    .click();
  await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
  await expect.poll(() => new URL(page.url()).origin).toBe(origin);
});
