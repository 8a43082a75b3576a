import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { answerWith } from './playground-page.ts';
import { numbered, openLive } from './runs-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const textsOf = (page: Page) => page.locator('.run-link').allTextContents();
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

/** Begins a chat that ends when it is cancelled. */
async function beginChat(tenant: Tenant, bot: string, message: string) {
  app.upstream.script(async ({ closed }) => void (await closed));
  const answer = tenant.chat(bot, { message });
  const running = () => app.prisma.run.findFirst({ where: { botId: bot, status: 'RUNNING' } });
  await expect.poll(running).not.toBeNull();
  const { id = '' } = (await running()) ?? {};
  return async () => {
    await tenant.graphql(`mutation { cancelRun(id: "${id}") { id } }`);
    await answer;
  };
}

/** Ends a run without a notification, as if the page had missed it. */
const endSilently = (id = '') =>
  app.prisma.run.update({ where: { id }, data: { status: 'COMPLETED', finishedAt: new Date() } });

describe('the live list of runs', () => {
  browserTest('counts no older run as new when it is rated', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const old = (await makeRuns(app, bot, numbered(130))).at(-1)?.id;
    const page = await signedIn(tenant.apiKey);
    await openLive(page, `/bots/${bot}/runs`);
    await rowOf(page, 'Question 0').waitFor();
    await tenant.graphql(`mutation { addFeedback(runId: "${old}", rating: UP) { rating } }`);
    answerWith(app, 'An answer');
    await tenant.chat(bot, { message: 'Fresh' });
    await page.getByRole('button', { name: '1 new run' }).click();
    await expect
      .poll(async () => (await textsOf(page)).slice(0, 3))
      .toEqual(['Fresh', 'Question 0', 'Question 1']);
  });

  browserTest('puts a run that begins to match in its place', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const cancel = await beginChat(tenant, bot, 'Slow');
    await makeRuns(app, bot, [{ input: 'Quick', status: 'CANCELLED' }]);
    const page = await signedIn(tenant.apiKey);
    await openLive(page, `/bots/${bot}/runs?status=cancelled`);
    await expect.poll(() => textsOf(page)).toEqual(['Quick']);
    await cancel();
    await page.getByRole('button', { name: '1 new run' }).click();
    await expect.poll(() => textsOf(page)).toEqual(['Quick', 'Slow']);
  });

  browserTest('keeps a run whose status no longer matches until it is loaded again', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const cancel = await beginChat(tenant, bot, 'Slow');
    const page = await signedIn(tenant.apiKey);
    await openLive(page, `/bots/${bot}/runs?status=running`);
    await rowOf(page, 'Slow').getByText('running').waitFor();
    await cancel();
    await rowOf(page, 'Slow').getByText('cancelled').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'No run matches these filters' }).waitFor();
  });

  browserTest(
    'reads active runs again after a pause, also older ones and with a filter',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      const runs = await makeRuns(
        app,
        bot,
        numbered(70, (number) => (number % 69 === 0 ? { status: 'RUNNING' } : {})),
      );
      const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?status=running`);
      const pause = async () => {
        await page.getByRole('button', { name: 'Pause' }).click();
        await page.getByText('paused').waitFor();
      };
      await rowOf(page, 'Question 69').waitFor();
      await pause();
      await endSilently(runs[0]?.id);
      await page.getByRole('button', { name: 'Resume' }).click();
      await rowOf(page, 'Question 0').getByText('completed').waitFor();

      await page.goto(`/bots/${bot}/runs`);
      const last = rowOf(page, 'Question 69');
      await expect
        .poll(async () => {
          await page.locator('.run-scroll').evaluate((list) => list.scrollTo(0, 1e6));
          return last.count();
        })
        .toBe(1);
      await pause();
      await endSilently(runs.at(-1)?.id);
      await page.getByRole('button', { name: 'Resume' }).click();
      await last.getByText('completed').waitFor();
    },
  );

  browserTest('counts new runs in the charts when it shows them, or after a minute', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    await makeRuns(app, bot, numbered(1));
    answerWith(app, 'An answer');
    const page = await signedIn(tenant.apiKey);
    await page.clock.install();
    await openLive(page, `/bots/${bot}/runs?range=24h`);
    const chartOf = (count: number) =>
      page.getByRole('slider', { name: `Runs an hour: 0 of ${count} failed`, exact: true });
    const pill = page.getByRole('button', { name: '1 new run' });
    await chartOf(1).waitFor();
    await tenant.chat(bot, { message: 'First' });
    await pill.click();
    await chartOf(2).waitFor();
    await tenant.chat(bot, { message: 'Second' });
    await pill.waitFor();
    await expect
      .poll(async () => {
        await page.clock.fastForward(60_000);
        return chartOf(3).count();
      })
      .toBe(1);
    await pill.waitFor();
  });
});
