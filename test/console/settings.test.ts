import { beforeAll, describe, expect } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { VERSION } from '../../src/text/version.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
/** The clock of the limits stands still, so that no day ends while requests are counted. */
const now = Date.now();
beforeAll(async () => {
  app = await startApp({
    allowedOrigins: ['https://shop.example'],
    clock: () => now,
    checkServer: async () => [
      { name: 'Database', status: 'ok', message: 'PostgreSQL 17, parley at db' },
      {
        name: 'Redis',
        status: 'warning',
        message: '2 processes use the database without a common Redis',
        advice: 'Set REDIS_URL for all of them, or run one process.',
      },
    ],
  });
});

const DAY_MS = 24 * 60 * 60 * 1_000;

describe('the settings', () => {
  browserTest('show the account, its plan, its limits and the key of the session', async () => {
    const tenant = await app.tenant({ plan: 'PRO' });
    const page = await signedIn(tenant.apiKey, '/settings');
    await page.getByRole('definition').filter({ hasText: /^Pro$/ }).waitFor();
    const minute = page.getByRole('meter', { name: 'This minute' });
    await expect.poll(() => minute.getAttribute('max')).toBe('60');
    await page.getByText(/^May chat with its bots, .* and decide on tool calls\.$/).waitFor();
    await page.getByText(/resets in \d+ s$/).waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('meter', { name: 'Today' }).waitFor();
    await expect.poll(() => page.url()).toBe(`${app.url}/settings/usage`);
  });

  browserTest('count requests, and tokens by bot and by key', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 500, requestsPerDay: 9_000 });
    const bot = await tenant.bot(null);
    const { id: keyId } = await app.prisma.apiKey.findFirstOrThrow({
      where: { accountId: tenant.accountId },
    });
    const tokens = { promptTokens: 1_200, completionTokens: 34, keyId };
    await makeRuns(app, bot, [tokens, tokens]);
    const page = await signedIn(tenant.apiKey, '/settings/usage');
    await page.getByRole('row', { name: 'Bot 2 2,468', exact: true }).waitFor();
    await page.getByRole('row', { name: 'Key 2 2,468', exact: true }).waitFor();
    await page.getByRole('row', { name: 'Together 2,468' }).waitFor();
    const meter = page.getByRole('meter', { name: 'This minute' });
    await expect.poll(() => meter.getAttribute('max')).toBe('500');
    const used = Number(await meter.getAttribute('value'));
    await tenant.graphql('{ viewer { account { id } } }');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect
      .poll(async () =>
        Number(await page.getByRole('meter', { name: 'Today' }).getAttribute('value')),
      )
      .toBeGreaterThan(used);
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('show the server to an operator', async () => {
    const tenant = await app.tenant();
    const key = await tenant.key({ scopes: ['OPERATOR'] });
    const page = await signedIn(key, '/settings/server');
    await page.getByText(VERSION, { exact: true }).waitFor();
    await page.getByText(/^(PostgreSQL|embedded database), answers in/).waitFor();
    await page.getByText('https://shop.example').waitFor();
    await page.getByText('scripted').waitFor();
    await page.getByText('PostgreSQL 17, parley at db').waitFor();
    await page.getByText('Redis warning').waitFor();
    await page.getByText('Set REDIS_URL for all of them').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('button', { name: 'Check again' }).click();
  });

  browserTest('test the default model, and say what to do', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(await tenant.key({ scopes: ['OPERATOR'] }), '/settings/server');
    app.upstream.script(({ request, say, call, end }) => {
      if (request.body.tools) return call(['report_status', { status: 'ready' }]);
      say('I am ready.');
      end();
    });
    const button = page.getByRole('button', { name: 'Test model' });
    await button.click();
    await page.getByText('The model works, but not with everything.').waitFor();
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await row('Tools passed').getByText('The model calls tools.').waitFor();
    const output = row('JSON failed');
    await output.getByText('The model did not answer with the JSON object.').waitFor();
    await output.getByText('need another model').waitFor();
    await assertAccessible(page);
    await assertFits(page);

    app.upstream.script(({ response }) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end('{"error": {"message": "Wrong key."}}');
    });
    await button.press('Enter');
    await page.getByText('The model cannot be used.').waitFor();
    await row('Key failed').getByText('Set OPENAI_API_KEY.').waitFor();
    await page.getByText('Not checked: Name, Stream, Tools, JSON, Usage, Settings.').waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('offer no test of the model without the scope', async () => {
    const page = await signedIn((await app.tenant()).apiKey, '/settings/server');
    await page.getByText(VERSION, { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Test model' }).count()).toBe(0);
  });

  browserTest('name the missing scopes of a key', async () => {
    const tenant = await app.tenant();
    const key = await tenant.key({ scopes: ['CHAT'] });
    const page = await signedIn(key, '/settings/keys');
    for (const [path, reason] of [
      ['keys', 'Your key lacks the scope admin.'],
      ['audit', 'Your key lacks the scope admin.'],
      ['accounts', 'Your key lacks the scope operator.'],
      ['server', 'Your key lacks the scope operator.'],
      ['usage', 'Your key lacks the scope runs.'],
    ]) {
      await page.goto(`/settings/${path}`);
      await page.getByText(reason ?? '').waitFor();
    }
    const sections = page.getByRole('navigation', { name: 'Settings' });
    await expect.poll(() => sections.getByRole('link', { name: 'Accounts' }).count()).toBe(0);
    await assertAccessible(page);
    await page.goto('/settings/nothing');
    await page.getByText('There is no page at this address.').waitFor();
  });

  browserTest('show a failed request with its id, and repeat it', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey, '/settings');
    for (const path of ['usage', 'keys', 'audit', 'server']) {
      await page.route('**/graphql', (route) =>
        route.fulfill({
          headers: { 'x-request-id': `req_${path}` },
          json: { errors: [{ message: 'Broken.', extensions: { code: 'INTERNAL_ERROR' } }] },
        }),
      );
      const names = { usage: 'Usage', keys: 'API keys', audit: 'Audit log', server: 'Server' };
      const name = names[path as keyof typeof names];
      await page.getByRole('navigation', { name: 'Settings' }).getByText(name).click();
      await page.getByTitle(`Copy req_${path}`).waitFor();
      await assertAccessible(page);
      await page.unroute('**/graphql');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByTitle(`Copy req_${path}`).waitFor({ state: 'detached' });
    }
  });
});

describe('the audit log', () => {
  browserTest('is filtered by its address, and loads page by page', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const { id: keyId } = await app.prisma.apiKey.findFirstOrThrow({
      where: { accountId: tenant.accountId },
    });
    const entry = { accountId: tenant.accountId, keyId };
    // The retention sweep deletes entries of the last year but one.
    const begin = Math.floor(Date.now() / DAY_MS) * DAY_MS - 30 * DAY_MS;
    /** The noon of a day, of which the first one is about a month ago. */
    const at = (day: number) => new Date(begin + (day + 0.5) * DAY_MS);
    const dateOf = (day: number) => at(day).toISOString().slice(0, 10);
    await app.prisma.auditEntry.createMany({
      data: [
        ...Array.from({ length: 60 }, (_, number) => ({
          ...entry,
          id: makeId('aud'),
          action: 'DEPLOY' as const,
          botId: bot,
          targetId: `dep_${number}`,
          createdAt: at(5),
        })),
        {
          ...entry,
          id: makeId('aud'),
          action: 'CREATE_API_KEY',
          targetId: 'key_gone',
          createdAt: at(7),
        },
        {
          ...entry,
          keyId: null,
          id: makeId('aud'),
          action: 'UPDATE_ACCOUNT',
          targetId: tenant.accountId,
          createdAt: at(8),
        },
      ],
    });
    const page = await signedIn(tenant.apiKey, '/settings/audit');
    const rows = page.locator('tbody tr:not(.table-more)');
    await page.getByText('an operator').waitFor();
    await expect.poll(() => rows.count()).toBe(50);
    const time = page.locator('time').first();
    await expect.poll(() => time.getAttribute('title')).toBe(`${dateOf(8)} 12:00:00 UTC`);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows.count()).toBe(62);
    await assertAccessible(page);
    await assertFits(page);

    await page.getByLabel('Action').selectOption('created a key');
    await expect.poll(() => rows.count()).toBe(1);
    await expect.poll(() => page.url()).toBe(`${app.url}/settings/audit?action=create_api_key`);
    await page.reload();
    await page.getByTitle('Copy key_gone').waitFor();
    await page.getByLabel('Bot', { exact: true }).fill(bot);
    await page.getByLabel('Bot', { exact: true }).press('Enter');
    await page.getByText('No entry matches these filters').waitFor();
    await assertAccessible(page);
    await page.goBack();
    await page.getByTitle('Copy key_gone').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('From').fill(dateOf(6));
    await page.getByLabel('To').fill(dateOf(7));
    await expect.poll(() => rows.count()).toBe(1);
    await page.goto('/settings/audit?action=nonsense&from=2026-13-45&key=key_unknown');
    await page.getByText('No entry matches these filters').waitFor();
  });
});
