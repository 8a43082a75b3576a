import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { numbered } from './runs-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** The names of the filters in the address that the page reports as invalid. */
async function invalidFilters(page: Page): Promise<(string | undefined)[]> {
  const faults = await page.getByRole('alert').getByRole('listitem').allTextContents();
  return faults.map((fault) => fault.split(' ', 1)[0]);
}

describe('the list of runs', () => {
  browserTest('shows runs, and reads more of them while it is scrolled', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const details = { sessionId: 'user-42', model: 'gpt-6-luna', promptTokens: 1_200 };
    const runs = numbered(130, (number) =>
      number === 0 ? { ...details, status: 'FAILED', errorCode: 'model_timeout' } : {},
    );
    await makeRuns(app, bot, runs);
    const page = await signedIn(tenant.apiKey);
    await page.getByRole('button', { name: 'Actions for Bot' }).click();
    await page.getByRole('menuitem', { name: 'Runs' }).click();
    const first = page.getByRole('row').filter({ hasText: 'Question 0' });
    await first.waitFor();
    await expect
      .poll(() => first.textContent())
      // After midnight the time has its day.
      .toMatch(
        /^failed(\d\d:\d\d:\d\d|\d+ \w+, \d\d:\d\d)user-42Question 0Model timeout––1\.0 s1,200$/,
      );
    // The status is text at every width.
    await page.setViewportSize({ width: 390, height: 780 });
    await first.getByText('failed', { exact: true }).waitFor();
    const status = await first.getByText('failed', { exact: true }).boundingBox();
    expect(status?.width).toBeGreaterThan(20);
    await page.setViewportSize({ width: 1280, height: 720 });
    await expect.poll(() => first.getByRole('link').getAttribute('href')).toMatch(/^\/runs\/run_/);
    const table = page.getByRole('table', { name: 'Runs', exact: true });
    await assertAccessible(page);
    await assertFits(page);
    await expect
      .poll(async () => {
        await page.locator('.run-scroll').evaluate((list) => list.scrollTo(0, 1e6));
        return page.getByText('Question 129').count();
      })
      .toBe(1);
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('131');
    await expect.poll(() => page.getByRole('row').count()).toBeLessThan(60);
  });

  browserTest('shows a long search as it goes, and asks before it searches on and on', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    // The most text that a search reads of a run: a page of the search reads few of them.
    const long = 'x '.repeat(16_000);
    await makeRuns(
      app,
      bot,
      numbered(90, (number) => ({
        input: `${number === 1 || number === 89 ? 'grey hérón' : 'hérón grey'} ${number} ${long}`,
        response: long,
      })),
    );
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?text="grey+hérón"`);
    const rows = page.locator('.run-link');
    await page.getByText('The search has not reached the oldest runs yet.').waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('button', { name: 'Search older runs' }).click();
    await page.getByRole('link', { name: 'grey hérón 89' }).waitFor();
    await expect.poll(() => page.getByText('Searching older runs…').count()).toBe(0);
    await expect.poll(() => rows.count()).toBe(2);
    await page.goto(`/bots/${bot}/runs?text="hérón+hérón"`);
    await page.getByRole('button', { name: 'Search older runs' }).click();
    await page.getByText('No run matches these filters').waitFor();
  });

  browserTest('opens runs beside it by keyboard alone, and their pages', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const made = await makeRuns(app, bot, numbered(3));
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    await page.getByRole('link', { name: 'Question 0' }).focus();
    await page.keyboard.press('ArrowDown');
    const panel = page.getByRole('region', { name: 'Open run' });
    await panel.getByRole('region', { name: 'Asked' }).getByText('Question 0').waitFor();
    await page.keyboard.press('ArrowDown');
    await panel.getByRole('region', { name: 'Asked' }).getByText('Question 1').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('run')).toBe(made[1]?.id);
    await assertAccessible(page);
    await assertFits(page);
    await page.reload();
    await panel.getByRole('region', { name: 'Asked' }).getByText('Question 1').waitFor();
    await page.getByRole('button', { name: 'Close the run' }).click();
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'Question 2' }).click();
    await panel.getByRole('region', { name: 'Asked' }).getByText('Question 2').waitFor();
    await page.getByRole('link', { name: 'Question 2' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toBe(`${app.url}/runs/${made[2]?.id}`);
    await page.goBack();
    await panel.waitFor();
  });

  browserTest('is filtered by its address, and names its invalid conditions', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeRuns(
      app,
      bot,
      numbered(12, (number) => ({
        status: number < 2 ? 'FAILED' : 'COMPLETED',
        sessionId: number % 2 ? 'ada' : 'bob',
        input: number === 5 ? 'Refund my lamp' : `Question ${number}`,
      })),
    );
    const page = await signedIn(
      tenant.apiKey,
      `/bots/${bot}/runs?status=broken&user=ada&min_tokens=-1&from=yesterday&environment=mars`,
    );
    const rows = page.locator('.run-link');
    await expect.poll(() => rows.count()).toBe(6);
    await expect
      .poll(() => invalidFilters(page))
      .toEqual(['environment', 'status', 'from', 'min_tokens']);
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('button', { name: 'status: broken' }).click();
    await page.getByRole('radio', { name: 'failed' }).check();
    await expect.poll(() => rows.count()).toBe(1);
    await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('failed');
    await page.keyboard.press('Escape');
    await page.goBack();
    await expect.poll(() => rows.count()).toBe(6);
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => rows.count()).toBe(12);
    // The environment is not a filter.
    await expect.poll(() => page.url()).toBe(`${app.url}/bots/${bot}/runs?environment=mars`);

    await page.getByRole('searchbox').fill('lamp');
    await expect.poll(() => rows.allTextContents()).toEqual(['Refund my lamp']);
    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', { name: '+ filter' }).click();
    await page.getByRole('menuitem', { name: 'slower than' }).click();
    const value = page.getByRole('dialog', { name: 'Filter by slower than' }).getByRole('textbox');
    await value.fill('1009');
    await assertAccessible(page);
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(3);
    await expect.poll(() => page.url()).toContain('min_latency_ms=1009');
    await page.getByRole('button', { name: 'time' }).first().click();
    await page.getByRole('radio', { name: 'last hour' }).check();
    await expect.poll(() => page.url()).toContain('range=1h');
    await page.goto(`/bots/${bot}/runs?user=nobody`);
    await page.getByRole('heading', { name: 'No run matches these filters' }).waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await expect.poll(() => rows.count()).toBe(12);
  });

  browserTest('is filtered by all conditions of its address together', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const { id: deploymentId } = await app.prisma.deployment.findFirstOrThrow({
      where: { botId: bot },
    });
    const wanted = {
      channel: 'TELEGRAM',
      kind: 'CHAT',
      status: 'FAILED',
      deploymentId,
      model: 'gpt-6-luna',
      errorCode: 'model_timeout',
      promptTokens: 900,
      completionTokens: 100,
      createdAt: new Date('2026-11-20T10:59:59Z'),
    } as const;
    await makeRuns(app, bot, [
      { ...wanted, input: 'Wanted' },
      { ...wanted, input: 'Other channel', channel: 'WEB' },
      { ...wanted, input: 'Other kind', kind: 'EXECUTE' },
      { ...wanted, input: 'Other deployment', deploymentId: null },
      { ...wanted, input: 'Other model', model: 'gpt-6-sol' },
      { ...wanted, input: 'Other error', errorCode: 'interrupted' },
      { ...wanted, input: 'Fewer tokens', completionTokens: 99 },
      { ...wanted, input: 'Too late', createdAt: new Date('2026-11-20T11:00:00Z') },
    ]);
    const conditions = [
      'channel=telegram',
      'kind=chat',
      `deployment_id=${deploymentId}`,
      'model=gpt-6-luna',
      'error_code=model_timeout',
      'min_tokens=1000',
      'to=2026-11-20T11:00:00Z',
    ];
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?${conditions.join('&')}`);
    const rows = page.locator('.run-link');
    await expect.poll(() => rows.allTextContents()).toEqual(['Wanted']);
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.getByRole('slider', { name: /^Runs an? .*: 1 of 1 failed$/ }).waitFor();
    await page.goto(`/bots/${bot}/runs?${conditions.slice(1).join('&')}`);
    await expect
      .poll(async () => (await rows.allTextContents()).sort())
      .toEqual(['Other channel', 'Wanted']);
  });

  browserTest('leaves out what the server refuses, and a range beside a fixed time', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeRuns(
      app,
      bot,
      numbered(4, (number) => ({ sessionId: number % 2 ? 'ada' : 'bob' })),
    );
    const page = await signedIn(
      tenant.apiKey,
      `/bots/${bot}/runs?model=%00&text=a%00&deployment_id=dep_%00&range=24h&from=2026-01-01&user=ada`,
    );
    await expect.poll(() => page.locator('.run-link').count()).toBe(2);
    await page.getByRole('slider', { name: /^Runs an? .*: 0 of 2 failed$/ }).waitFor();
    await expect
      .poll(() => invalidFilters(page))
      .toEqual(['text', 'deployment_id', 'model', 'range']);
    await page.getByRole('button', { name: 'Export…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export runs' });
    await expect.poll(() => dialog.getByRole('term').allTextContents()).toEqual(['from', 'user']);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^from / }).click();
    await page.getByRole('radio', { name: 'last 24 hours' }).check();
    await expect.poll(() => page.url()).not.toContain('from=');
    await expect
      .poll(() => page.getByRole('alert').getByRole('listitem').allTextContents())
      .toHaveLength(3);
  });

  browserTest('cancels the request of a search that another one replaces', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeRuns(app, bot, numbered(3));
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    const row = (text: string) => page.getByRole('row').filter({ hasText: text });
    await row('Question 2').waitFor();
    const isFirst = (body: string | null) =>
      /"text":"1"/.test(body ?? '') && /:50\b/.test(body ?? '');
    // The server does not answer the first search.
    await page.route('**/graphql', async (route) => {
      if (!isFirst(route.request().postData())) await route.continue();
    });
    const asked = page.waitForRequest((request) => isFirst(request.postData()));
    const cancelled = page.waitForEvent('requestfailed', (request) => isFirst(request.postData()));
    const field = page.getByRole('searchbox');
    await field.fill('1');
    await asked;
    await field.fill('0');
    await cancelled;
    await row('Question 0').waitFor();
    await row('Question 2').waitFor({ state: 'detached' });
  });

  browserTest('shows new runs on demand, and updates the shown ones', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    app.upstream.script(async ({ request, say, end, closed }) => {
      if (request.body.messages.at(-1)?.content === 'Old question') return void (await closed);
      say('An answer');
      end();
    });
    const answer = tenant.chat(bot, { message: 'Old question' });
    const running = () => app.prisma.run.findFirst({ where: { botId: bot, status: 'RUNNING' } });
    await expect.poll(running).not.toBeNull();
    const page = await signedIn(tenant.apiKey);
    await page.getByTitle(`Copy ${bot}`).waitFor();
    const following = page.waitForRequest('**/graphql/stream');
    await page.goto(`/bots/${bot}/runs`);
    const old = page.getByRole('row').filter({ hasText: 'Old question' });
    await old.getByText('running').waitFor();
    // The response begins when the server follows the runs.
    await (await (await following).response())?.headerValue('content-type');
    for (const message of ['First', 'Second']) await tenant.chat(bot, { message });
    await page.getByRole('button', { name: '2 new runs' }).waitFor();
    const links = page.locator('.run-link');
    await expect.poll(() => links.allTextContents()).toEqual(['Old question']);
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('button', { name: '2 new runs' }).click();
    await expect.poll(() => links.allTextContents()).toEqual(['Second', 'First', 'Old question']);
    const { id } = (await running()) ?? {};
    await tenant.graphql(`mutation { cancelRun(id: "${id}") { id } }`);
    await old.getByText('cancelled').waitFor();
    await answer;

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused').waitFor();
    await tenant.chat(bot, { message: 'Third' });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: '1 new run' }).click();
    await expect.poll(() => links.first().textContent()).toBe('Third');
  });

  browserTest('shows a failure with the id of the request, and tries again', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeRuns(app, bot, numbered(1));
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/playground`);
    await page.getByRole('link', { name: 'Playground' }).waitFor();
    await page.route('**/graphql', (route) =>
      route.fulfill({
        headers: { 'x-request-id': 'req_broken' },
        json: { errors: [{ message: 'Broken.', extensions: { code: 'INTERNAL_ERROR' } }] },
      }),
    );
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByTitle('Copy req_broken').first().waitFor();
    // The first button belongs to the charts.
    const again = page.getByRole('button', { name: 'Try again' });
    await expect.poll(() => again.count()).toBe(2);
    await assertAccessible(page);
    await page.unroute('**/graphql');
    await again.last().click();
    await page.getByRole('link', { name: 'Question 0' }).waitFor();
  });

  browserTest('shows nothing of another account, nor to a key without the scope', async () => {
    const [tenant, other] = [await app.tenant(), await app.tenant()];
    const bot = await other.bot(null);
    await makeRuns(app, bot, numbered(1));
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    await page.getByRole('heading', { name: 'There is no such bot' }).waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(1);
    expect(await page.content()).not.toContain('Question 0');
    const limited = await signedIn(await other.key({ scopes: ['CHAT'] }), `/bots/${bot}/runs`);
    await limited.getByText('Your key lacks the scope runs.').waitFor();
  });
});
