import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const stored = (runId: string) =>
  app.prisma.feedback.findMany({ where: { runId }, select: { rating: true, note: true } });

const rate = (key: string, run: string, rating: string, note?: string) =>
  app.graphql(
    key,
    `mutation { addFeedback(runId: "${run}", rating: ${rating}, note: ${JSON.stringify(note ?? null)}) { rating } }`,
  );

/** Lets no rating reach the server. */
const refuseRatings = (page: Page) =>
  page.route('**/graphql', (route) =>
    /"(rating|runId)"/.test(route.request().postData() ?? '')
      ? route.fulfill({
          json: { errors: [{ message: 'Broken.', extensions: { code: 'INTERNAL_ERROR' } }] },
        })
      : route.continue(),
  );

describe('the feedback on a run', () => {
  browserTest('is given, changed and removed by keyboard, with a note', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{ input: 'Hi', response: 'Hello' }]);
    const id = run?.id ?? '';
    const other = await tenant.key({ scopes: ['CHAT'] });
    await rate(other, id, 'DOWN', 'Too short.');
    const page = await signedIn(tenant.apiKey, `/runs/${id}`);
    const feedback = page.getByRole('region', { name: 'Feedback' });
    await feedback.getByText('Too short. by the key').waitFor();
    const good = feedback.getByRole('button', { name: 'Good reply' });
    await good.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => good.getAttribute('aria-pressed')).toBe('true');
    await feedback.getByRole('button', { name: 'Add a note' }).focus();
    await page.keyboard.press('Enter');
    await feedback.getByLabel('Note').fill('Friendly.');
    await assertAccessible(page);
    await assertFits(page);
    await feedback.getByRole('button', { name: 'Save the note' }).click();
    await feedback.getByRole('button', { name: 'Edit the note' }).waitFor();
    await feedback.getByRole('button', { name: 'Bad reply' }).click();
    await expect
      .poll(() => stored(id))
      .toEqual([
        { rating: 'DOWN', note: 'Too short.' },
        { rating: 'DOWN', note: 'Friendly.' },
      ]);
    await page.reload();
    await feedback.getByText('Friendly.', { exact: true }).waitFor();
    await assertAccessible(page);
    await feedback.getByRole('button', { name: 'Bad reply' }).click();
    await expect.poll(() => stored(id)).toHaveLength(1);
    await feedback.getByRole('button', { name: 'Edit the note' }).waitFor({ state: 'detached' });
  });

  browserTest('is taken back if the server refuses it, and a note stays in its field', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{ input: 'Hi', response: 'Hello' }]);
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
    const feedback = page.getByRole('region', { name: 'Feedback' });
    const [good, bad] = ['Good reply', 'Bad reply'].map((name) =>
      feedback.getByRole('button', { name }),
    );
    await good?.click();
    await expect.poll(() => stored(run?.id ?? '')).toHaveLength(1);
    await feedback.getByRole('button', { name: 'Add a note' }).click();
    await refuseRatings(page);
    await feedback.getByLabel('Note').fill('A long thought');
    await feedback.getByRole('button', { name: 'Save the note' }).click();
    await feedback.getByRole('alert').getByText('Not stored. Broken.').waitFor();
    await expect.poll(() => feedback.getByLabel('Note').inputValue()).toBe('A long thought');
    await bad?.click();
    await expect.poll(() => good?.getAttribute('aria-pressed')).toBe('true');
    await assertAccessible(page);
    await page.unroute('**/graphql');
    await feedback.getByRole('button', { name: 'Save the note' }).click();
    await feedback.getByRole('button', { name: 'Edit the note' }).waitFor();
    expect(await stored(run?.id ?? '')).toEqual([{ rating: 'UP', note: 'A long thought' }]);
  });

  browserTest('shows in the list, filters it, and is counted in the charts', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const runs = await makeRuns(app, bot, [
      { input: 'Loved', createdAt: new Date(Date.now() - 1_000) },
      { input: 'Hated', createdAt: new Date(Date.now() - 2_000) },
      { input: 'Ignored', createdAt: new Date(Date.now() - 3_000) },
    ]);
    const [loved = '', hated = ''] = runs.map(({ id }) => id);
    await rate(tenant.apiKey, loved, 'UP');
    await rate(tenant.apiKey, hated, 'DOWN');
    await rate(await tenant.key({ scopes: ['CHAT'] }), loved, 'UP');
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('Loved').getByText('2 good').waitFor();
    await row('Hated').getByText('1 bad').waitFor();
    await page.getByRole('slider', { name: 'Ratings an hour: 1, 1' }).waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('button', { name: '+ filter' }).click();
    await page.getByRole('menuitem', { name: 'feedback' }).click();
    await page.getByRole('radio', { name: 'down' }).check();
    await expect.poll(() => page.locator('.run-link').allTextContents()).toEqual(['Hated']);
    await expect.poll(() => page.url()).toContain('feedback=down');
    await page.goto(`/bots/${bot}/runs?feedback=sideways`);
    await page.getByText('“sideways” is not one of up, down. It is ignored.').waitFor();
    await expect.poll(() => page.locator('.run-link').count()).toBe(3);
  });

  browserTest('is given below a reply in the playground, and shown again later', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/playground?session_id=ada`);
    answerWith(app, 'On its way.');
    await page.getByLabel('Message').fill('Where is it?');
    await page.getByLabel('Message').press('Enter');
    const good = page.getByRole('button', { name: 'Good reply' });
    await good.click();
    const found = () => app.prisma.feedback.findMany({ where: { botId: bot } });
    await expect.poll(found).toHaveLength(1);
    await assertAccessible(page);
    await page.reload();
    await expect.poll(() => good.getAttribute('aria-pressed')).toBe('true');
    await refuseRatings(page);
    await good.click();
    await page.getByText('The rating is not stored. Broken.').waitFor();
    await expect.poll(() => good.getAttribute('aria-pressed')).toBe('true');
  });
});
