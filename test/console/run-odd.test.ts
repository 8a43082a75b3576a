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

describe('the page of an unusual run', () => {
  browserTest('shows the partial reply of an interrupted run, and its open spans', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [
      {
        input: 'Are you there?',
        response: 'I was abo',
        status: 'FAILED',
        errorCode: 'interrupted',
      },
    ]);
    const span = (spanId: string, parentId: string | null, name: string) => ({
      spanId,
      parentId,
      name,
      startedAt: 1_790_000_000_000,
      durationMs: 900,
      status: 'error',
      attributes: { 'error.type': 'interrupted' },
    });
    const spans = [
      span('1'.repeat(16), null, 'invoke_agent Test'),
      span('2'.repeat(16), '1'.repeat(16), 'send_to_model'),
    ];
    await app.prisma.run.update({
      where: { id: run?.id ?? '' },
      data: { spans, finishedAt: new Date() },
    });
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
    await page.getByText('interrupted', { exact: true }).first().waitFor();
    await page.getByRole('region', { name: 'Replied so far' }).getByText('I was abo').waitFor();
    await page.getByRole('button', { name: /Model and tools.*failed/ }).waitFor();
    await assertAccessible(page);
    for (const [tab, text] of [
      ['Prompt', 'The prompt of this run was not stored, or was deleted.'],
      ['Events', 'interrupted'],
    ] as const) {
      await page.getByRole('button', { name: tab, exact: true }).click();
      await page.getByText(text).last().waitFor();
    }
    await assertAccessible(page);
  });

  browserTest('keeps a run beside the list that is deleted while it is open', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{ input: 'Are you there?' }, { input: 'Hello' }]);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?run=${run?.id}`);
    const panel = page.getByRole('region', { name: 'Open run' });
    await panel.getByText('Are you there?').waitFor();
    await app.prisma.run.delete({ where: { id: run?.id ?? '' } });
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await panel.getByText('This run was deleted while it was open.').waitFor();
    await panel.getByText('Are you there?').waitFor();
    await assertAccessible(page);
    await page.reload();
    await panel.getByRole('heading', { name: 'This bot has no such run' }).waitFor();
    await expect.poll(() => page.locator('.run-link').allTextContents()).toEqual(['Hello']);
    await assertAccessible(page);
  });

  browserTest('shows the beginning of a reply of 5 MB, and copies all of it', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const response = '**Many** words of a reply. '.repeat(190_000);
    const [run] = await makeRuns(app, bot, [{ input: 'Write a lot', response }]);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?run=${run?.id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const reply = page.getByRole('region', { name: 'Replied' });
    await reply.getByRole('button', { name: 'Show all 5,130,000 characters' }).waitFor();
    await expect.poll(async () => (await reply.textContent())?.length).toBeLessThan(21_000);
    await reply.getByRole('button', { name: 'Copy: replied' }).click();
    await expect
      .poll(() => page.evaluate(async () => (await navigator.clipboard.readText()).length))
      .toBe(response.length);
    await assertAccessible(page);
    await assertFits(page);
  });
});
