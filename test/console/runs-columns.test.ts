import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { MAX_READ } from '../../src/runs/stats/matching-runs.ts';
import { makeId } from '../../src/text/ids.ts';
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

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const parametersOf = (page: Page, ...names: string[]) => {
  const { searchParams } = new URL(page.url());
  return names.map((name) => searchParams.get(name));
};

describe('the charts and columns of the list of runs', () => {
  browserTest('draws charts of the filtered runs, in which a drag selects a range', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    // A whole day that is over, and within the last 30 days.
    const date = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);
    const at = (hour: number) => new Date(Date.parse(date) + (hour + 0.5) * HOUR_MS);
    await makeRuns(app, bot, [
      { createdAt: at(3), latencyMs: 1_000, promptTokens: 10, input: 'Early' },
      { createdAt: at(9), latencyMs: 3_000, promptTokens: 20, input: 'Late', status: 'FAILED' },
      {
        createdAt: at(9),
        latencyMs: 3_000,
        promptTokens: 30,
        input: 'Staged',
        environment: 'STAGING',
      },
    ]);
    const page = await signedIn(
      tenant.apiKey,
      `/bots/${bot}/runs?date=${date}&environment=production`,
    );
    const chart = page.getByRole('slider', { name: 'Runs an hour: 1 of 2 failed' });
    await chart.waitFor();
    await page.getByRole('slider', { name: 'Tokens an hour: 30' }).waitFor();
    const rows = page.getByRole('table', { name: 'Runs by time' }).getByRole('row');
    await expect
      .poll(async () => (await rows.allTextContents()).slice(1, 3))
      .toEqual([
        expect.stringMatching(/10?1\.0 s1\.0 s100, 0$/),
        expect.stringMatching(/113\.0 s3\.0 s200, 0$/),
      ]);
    await assertAccessible(page);
    await assertFits(page);
    /** Moves the mouse to an hour of the chart, once the chart stands still. */
    const moveTo = async (hour: number) => {
      const { width = 0 } = (await chart.boundingBox()) ?? {};
      await chart.hover({ position: { x: (width * hour) / 24, y: 10 } });
    };
    await moveTo(8.5);
    await page.mouse.down();
    await moveTo(10.5);
    await page.mouse.up();
    await expect.poll(() => page.locator('.run-link').allTextContents()).toEqual(['Late']);
    await expect
      .poll(() => parametersOf(page, 'from', 'to', 'date'))
      .toEqual([`${date}T08:00:00.000Z`, `${date}T11:00:00.000Z`, null]);
    await page.getByRole('slider', { name: 'Runs an hour: 1 of 1 failed' }).waitFor();
    await page.goto(`/bots/${bot}/runs?range=30d`);
    await page.getByRole('slider', { name: 'Runs a day: 1 of 3 failed' }).waitFor();
  });

  browserTest('says in place of charts that too many runs match, or too many ratings', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const id = makeId('run');
    await app.prisma.$executeRaw`
      INSERT INTO runs (id, bot_id, environment, kind, channel, input, session_id, owner_id, status, created_at)
      SELECT ${id} || number, ${bot}, 'PRODUCTION', 'CHAT', 'API', 'Hi', 'many', '', 'COMPLETED', now() - interval '2 hours'
      FROM generate_series(0, ${MAX_READ}::int) AS number`;
    await app.prisma.$executeRaw`
      INSERT INTO feedback (run_id, author, bot_id, run_created_at, rating)
      SELECT id, 'user', bot_id, created_at, 'UP' FROM runs WHERE bot_id = ${bot}`;
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?range=24h&user=many`);
    await page
      .getByText('Too many runs match for statistics with this filter. Choose a shorter time')
      .waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await assertAccessible(page);
    await page.goto(`/bots/${bot}/runs?range=24h&environment=production`);
    await page.getByText('Too many ratings match to count them. Choose a shorter time.').waitFor();
    await page.getByRole('slider', { name: 'Runs an hour: 0 of 30,001 failed' }).waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('selects a range in a chart by keys, and reads its numbers out', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const date = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);
    const at = (hour: number) => new Date(Date.parse(date) + (hour + 0.5) * HOUR_MS);
    await makeRuns(app, bot, [
      { createdAt: at(1), input: 'Early' },
      { createdAt: at(22), input: 'Late', status: 'FAILED' },
      { createdAt: at(23), input: 'Latest' },
    ]);
    await app.prisma.deployment.create({
      data: {
        id: makeId('dep'),
        botId: bot,
        version: 7,
        source: '',
        envNames: [],
        channels: [],
        environment: 'PRODUCTION',
        status: 'DEPLOYED',
        createdAt: at(12),
        deployedAt: at(12),
      },
    });
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?date=${date}`);
    const chart = page.getByRole('slider', { name: 'Runs an hour: 1 of 3 failed' });
    await chart.getByText('v7').waitFor();
    await chart.focus();
    await page.keyboard.press('End');
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toMatch(/: 0 of 1 failed$/);
    await page.keyboard.press('Shift+ArrowLeft');
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toMatch(/ – /);
    await page.keyboard.press('Escape');
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toBe('No time selected');
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.locator('.run-link').allTextContents())
      .toEqual(['Latest', 'Late']);
    await expect
      .poll(() => parametersOf(page, 'from', 'to'))
      .toEqual([`${date}T22:00:00.000Z`, new Date(Date.parse(date) + DAY_MS).toISOString()]);
    await assertAccessible(page);
  });

  browserTest('selects a range by keyboard in the fields of the filter by time', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const at = (hour: number) => new Date(2026, 10, 20, hour, 30);
    await makeRuns(app, bot, [
      { createdAt: at(3), input: 'Early' },
      { createdAt: at(9), input: 'Late' },
    ]);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    const links = page.locator('.run-link');
    await expect.poll(() => links.allTextContents()).toEqual(['Late', 'Early']);
    await page.getByRole('button', { name: 'time', exact: true }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Filter by time' });
    await dialog.getByLabel('From').fill('2026-11-20T08:00');
    await dialog.getByLabel('To').fill('2026-11-20T11:00');
    await dialog.getByRole('button', { name: 'Apply' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => links.allTextContents()).toEqual(['Late']);
    await expect
      .poll(() => parametersOf(page, 'from', 'to'))
      .toEqual([new Date(2026, 10, 20, 8).toISOString(), new Date(2026, 10, 20, 11).toISOString()]);
    await page.getByRole('slider', { name: 'Runs an hour: 0 of 1 failed' }).waitFor();
    await dialog.waitFor({ state: 'hidden' });
  });

  browserTest('shows the chosen columns, also after a reload', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const failed = { status: 'FAILED', errorCode: 'model_timeout' } as const;
    await makeRuns(app, bot, [
      { ...failed, input: 'Are you there?', response: `I was${'.'.repeat(300)}` },
    ]);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    await page.getByRole('link', { name: 'Are you there?' }).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Error' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Tokens' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Model' }).click();
    await assertAccessible(page);
    await page.reload();
    await page.getByRole('cell', { name: 'model_timeout' }).waitFor();
    const names = page.getByRole('table', { name: 'Runs', exact: true }).getByRole('columnheader');
    await expect
      .poll(() => names.allTextContents())
      .toEqual([
        'Status',
        'Created',
        'User',
        'Asked, replied',
        'Tools',
        'Model',
        'Error',
        'Feedback',
        'Latency',
      ]);
    await assertFits(page);
  });

  browserTest('shows by which interface a run came, and filters by it', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeRuns(app, bot, [
      { entrance: 'OPENAI', input: 'By a client of OpenAI', createdAt: new Date('2026-11-20') },
      { entrance: 'MCP', input: 'By an assistant', createdAt: new Date('2026-11-19') },
    ]);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
    const links = page.locator('.run-link');
    await expect
      .poll(() => links.allTextContents())
      .toEqual(['By a client of OpenAI', 'By an assistant']);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Entrance' }).click();
    await page.keyboard.press('Escape');
    const cells = page.locator('td[data-column="entrance"]');
    await expect.poll(() => cells.allTextContents()).toEqual(['OpenAI API', 'MCP']);
    await page.getByRole('button', { name: '+ filter' }).click();
    await page.getByRole('menuitem', { name: 'entrance' }).click();
    await page.getByRole('radio', { name: 'mcp' }).check();
    await expect.poll(() => links.allTextContents()).toEqual(['By an assistant']);
    expect(parametersOf(page, 'entrance')).toEqual(['mcp']);
    await assertAccessible(page);
  });
});
