import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { DeploymentChanges } from '../../src/generated/operations/console.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import {
  addressOf,
  confirmIn,
  deploy,
  saying,
  sendingTo,
  untilChecked,
} from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** The button of a deployment in the timeline. */
const entry = (page: Page, version: string) =>
  page.getByRole('button', { name: new RegExp(`^${version} `) });
const difference = (page: Page) => page.getByRole('region', { name: 'Definition: difference' });

describe('the deployments of a bot', () => {
  browserTest(
    'are listed with what each changed, which opens in place and has an address',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      await deploy(tenant, bot, { source: saying('Be brief.'), message: 'First <b>release</b>' });
      await deploy(tenant, bot, { source: 'nothing', message: 'A mistake' });
      const third = await deploy(tenant, bot, {
        source: saying('Be very brief.'),
        envVars: [{ name: 'TOKEN', value: 'never-shown-4711' }],
      });
      const page = await signedIn(tenant.apiKey, addressOf(bot));
      await entry(page, 'v3').waitFor();
      await expect.poll(() => entry(page, 'v1').textContent()).toContain('First <b>release</b>');
      await expect.poll(() => entry(page, 'v1').textContent()).toContain('superseded');
      await expect
        .poll(() => entry(page, 'v2').textContent())
        .toMatch(/failed.*A mistake.*agentlang 5/);
      await expect
        .poll(() => entry(page, 'v3').textContent())
        .toMatch(/current.*by Key \(this key\)/);
      await entry(page, 'v3').click();
      await difference(page).getByText('1 line added, 1 removed').waitFor();
      await expect.poll(() => difference(page).locator('ins').allTextContents()).toEqual(['very ']);
      await page.getByRole('region', { name: 'Variables' }).getByText('TOKEN').waitFor();
      await expect.poll(() => page.url()).toBe(`${app.url}${addressOf(bot, `/${third}`)}`);
      await assertAccessible(page);
      await assertFits(page);
      await page.getByRole('button', { name: 'Source' }).click();
      await page.getByRole('group', { name: 'Source of v3' }).getByText('Be very brief.').waitFor();
      await page.reload();
      await page.getByRole('group', { name: 'Source of v3' }).waitFor();
      await entry(page, 'v2').click();
      await page.getByText(/^Error: /).waitFor();
      await page.goBack();
      await page.getByRole('group', { name: 'Source of v3' }).waitFor();
      expect(await page.content()).not.toContain('never-shown-4711');
    },
  );

  browserTest('are filtered by the address, and read page by page', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const at = Date.now() - 60_000;
    await app.prisma.deployment.createMany({
      data: Array.from({ length: 40 }, (_, index) => ({
        id: `dep_${bot.slice(4, 20)}${String(index).padStart(3, '0')}`,
        botId: bot,
        environment: index % 2 ? ('STAGING' as const) : ('PRODUCTION' as const),
        status: index % 10 ? ('DEPLOYED' as const) : ('FAILED' as const),
        source: '',
        version: index + 2,
        createdAt: new Date(at + index * 1_000),
      })),
    });
    const page = await signedIn(tenant.apiKey, '/bots/new');
    // The stream begins, with another reading of the list, while the next page is read.
    const [asked, followed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const isStream = (request: Request) =>
      request.postData()?.includes(DeploymentChanges.documentId) ?? false;
    await page.route('**/graphql/stream', async (route) => {
      if (isStream(route.request())) await asked.promise;
      await route.continue();
    });
    await page.route('**/graphql', async (route) => {
      if (/"after":"/.test(route.request().postData() ?? '')) {
        asked.resolve();
        await followed.promise;
      }
      await route.continue();
    });
    const stream = page.waitForRequest(isStream);
    await page.goto(addressOf(bot));
    const list = page.getByRole('list', { name: 'Deployments' });
    await expect.poll(() => list.getByRole('listitem').count()).toBe(30);
    await page.getByRole('button', { name: 'Show more' }).click();
    await (await (await stream).response())?.headerValue('content-type');
    await page.evaluate(() => new Promise(requestAnimationFrame));
    followed.resolve();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(41);
    await page.getByRole('button', { name: 'Staging', exact: true }).click();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(20);
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No deployment matches').waitFor();
    await expect
      .poll(() => page.url())
      .toBe(`${app.url}${addressOf(bot, '?environment=staging&status=failed')}`);
    await page.reload();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await entry(page, 'v41').waitFor();
  });

  browserTest(
    'are listed by the valid filters of the address, beside the invalid ones',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot();
      await deploy(tenant, bot, { source: saying('Staged.'), environment: 'STAGING' });
      await deploy(tenant, bot, { source: 'nothing' });
      const page = await signedIn(tenant.apiKey, addressOf(bot, '?status=broken&environment=mars'));
      const entries = page.getByRole('list', { name: 'Deployments' }).getByRole('listitem');
      const faults = page.getByRole('alert').getByRole('listitem');
      const status = page.getByLabel('Status');
      await expect.poll(() => entries.count()).toBe(3);
      await expect
        .poll(() => faults.allTextContents())
        .toEqual([
          'environment “mars” is not one of production, staging. Both environments are shown.',
          'status “broken” is not one of deployed, pending, failed. It is ignored.',
        ]);
      await expect.poll(() => status.getAttribute('aria-invalid')).toBe('true');
      await expect.poll(() => status.inputValue()).toBe('broken');
      await assertAccessible(page);
      await assertFits(page);
      await status.selectOption('failed');
      await expect.poll(() => entries.count()).toBe(1);
      await expect.poll(() => faults.count()).toBe(1);
      await page.goto(addressOf(bot, '?status=broken&environment=staging'));
      await expect.poll(() => entries.count()).toBe(1);
      await expect.poll(() => faults.count()).toBe(1);
      await status.selectOption('any');
      await faults.waitFor({ state: 'detached' });
      await expect
        .poll(() => page.url())
        .toBe(`${app.url}${addressOf(bot, '?environment=staging')}`);
      await page.goto(addressOf(bot, '/new?environment=mars'));
      await page.getByRole('alert').getByText('Production is selected.').waitFor();
      await assertAccessible(page);
    },
  );

  browserTest('show a deploy from elsewhere, also beside an open difference', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const first = await deploy(tenant, bot, { source: saying('One.') });
    const second = await deploy(tenant, bot, { source: saying('Two.') });
    const page = await signedIn(tenant.apiKey, addressOf(bot, `/${second}?show=running`));
    // The notice needs to know which deployment was active before.
    await page.getByText('v2 is the active deployment.').waitFor();
    await page.getByRole('button', { name: 'Changes since v1' }).click();
    await difference(page).getByText('Two.').waitFor();
    await expect.poll(() => entry(page, 'v2').textContent()).toContain('current');
    await tenant.graphql(`mutation { rollback(botId: "${bot}", deploymentId: "${first}") { id } }`);
    await page.getByText('v3 was deployed to production elsewhere').waitFor();
    await expect.poll(() => entry(page, 'v3').textContent()).toMatch(/current.*Rollback to v1/);
    await expect.poll(() => entry(page, 'v2').textContent()).not.toContain('current');
    await expect.poll(() => difference(page).textContent()).toContain('Two.');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Got it' }).click();
    await page.getByText('was deployed to production elsewhere').waitFor({ state: 'detached' });
  });

  browserTest('show in every open screen that a pending one has failed', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const pending = await deploy(tenant, bot, { source: saying('Half way.') });
    await app.prisma.deployment.update({
      where: { id: pending },
      data: { status: 'PENDING', deployedAt: null },
    });
    const pages = await Promise.all([
      signedIn(tenant.apiKey, addressOf(bot)),
      signedIn(tenant.apiKey, addressOf(bot, `/${pending}`)),
    ]);
    for (const page of pages)
      await expect.poll(() => entry(page, 'v2').textContent()).toContain('pending');
    const [, opened] = pages;
    const rollback = opened.getByRole('button', { name: 'Roll back to this…' });
    await expect.poll(() => rollback.getAttribute('title')).toBe('It is pending.');
    const problem = { severity: 'ERROR', code: 'channel-unavailable', message: 'telegram refused' };
    await app.prisma.deployment.update({
      where: { id: pending },
      data: { status: 'FAILED', diagnostics: [{ ...problem, line: 1, column: 1 }] },
    });
    await deploy(tenant, bot, { environment: 'STAGING' });
    for (const page of pages)
      await expect.poll(() => entry(page, 'v2').textContent()).toContain('failed');
    await opened.getByText('Error: telegram refused').waitFor();
  });

  browserTest('are empty at first, and lead to the first one', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const page = await signedIn(tenant.apiKey, addressOf(bot));
    await page.getByRole('heading', { name: 'Nothing was deployed yet' }).waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'Deploy…' }).last().click();
    await page.getByRole('textbox', { name: 'Definition' }).waitFor();
  });

  browserTest('show a failed request with its id, and repeat it', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, '/bots/new');
    // The stream begins with another reading, which would repeat the request by itself.
    await page.route('**/graphql/stream', () => {});
    await page.route('**/graphql', (route) =>
      route.fulfill({
        headers: { 'x-request-id': 'req_1' },
        json: { errors: [{ message: 'Broken.', extensions: { code: 'INTERNAL_ERROR' } }] },
      }),
    );
    await page.evaluate((path) => history.pushState(null, '', path), addressOf(bot));
    await page.getByText('Broken.').waitFor();
    await page.getByTitle('Copy req_1').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Try again' }).click();
    await entry(page, 'v1').waitFor();
  });

  browserTest(
    'show nothing of another account, nor a source to a key without the scope',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot();
      const { id } = await app.prisma.deployment.findFirstOrThrow({ where: { botId: bot } });
      const stranger = await app.tenant();
      const own = await stranger.bot();
      const elsewhere = await signedIn(stranger.apiKey, addressOf(own, `/${id}`));
      await elsewhere.getByRole('heading', { name: 'This bot has no such deployment' }).waitFor();
      const page = await signedIn(await tenant.key({ scopes: ['RUNS'] }), addressOf(bot, `/${id}`));
      await page.getByText('Your key lacks the scope deploy.').waitFor();
      for (const name of ['Roll back to this…', 'Deploy…'])
        await expect
          .poll(() => page.getByRole('button', { name }).getAttribute('title'))
          .toBe('Your key lacks the scope deploy.');
      expect(await page.content()).not.toContain('You are a test.');
      await assertAccessible(page);
    },
  );

  browserTest('are reached from a run, the list of bots and the palette', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    await tenant.chat(bot, { message: 'Hi' });
    await deploy(tenant, bot, { source: saying('Two.') });
    const { id } = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
    const page = await signedIn(tenant.apiKey, `/runs/${id}`);
    await page.getByText('More facts').click();
    await page.getByRole('link', { name: 'difference to the active deployment' }).click();
    await difference(page).getByRole('columnheader', { name: 'v2, active' }).waitFor();
    await page.goto('/bots');
    await page.getByRole('link', { name: 'v2', exact: true }).click();
    await difference(page).getByText('Two.').waitFor();
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox', { name: /^Go to/ }).fill('deployments');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toBe(`${app.url}${addressOf(bot)}`);
  });
});

describe('a rollback', () => {
  browserTest('is no deploy from elsewhere, and keeps the environment of the list', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const first = await deploy(tenant, bot, { source: saying('One.') });
    await deploy(tenant, bot, { source: saying('Two.') });
    const address = addressOf(bot, `/${first}?environment=production&show=running`);
    const page = await signedIn(tenant.apiKey, address);
    await difference(page).getByText('Two.').waitFor();
    await page.getByRole('button', { name: 'Roll back to this…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Roll back to v1' });
    await confirmIn(dialog, 'Roll back to v1').click();
    await dialog.getByText('v3 was deployed to production').waitFor();
    await difference(page).getByText('Two.').waitFor({ state: 'detached' });
    await expect.poll(() => page.getByText('deployed to production elsewhere').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await expect.poll(() => page.url()).toMatch(/\/deployments\/dep_\w+\?environment=production$/);
  });

  browserTest('shows the changes, and works by keyboard alone', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const first = await deploy(tenant, bot, {
      source: saying('One.'),
      envVars: [{ name: 'OLD', value: 'old-value-4711' }],
    });
    await deploy(tenant, bot, {
      source: saying('Two.'),
      envVars: [{ name: 'NEW', value: 'new-value-4711' }],
      unsetEnvVars: ['OLD'],
    });
    const page = await signedIn(tenant.apiKey, addressOf(bot, `/${first}`));
    await page.getByRole('button', { name: 'Roll back to this…' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Roll back to v1' });
    await dialog.getByRole('columnheader', { name: 'v2, active' }).waitFor();
    await expect
      .poll(() =>
        dialog.getByRole('region', { name: 'Variables' }).getByRole('listitem').allTextContents(),
      )
      .toEqual(['+OLDadded', '−NEWremoved']);
    await dialog.locator('ins').getByText('One').waitFor();
    await assertAccessible(page);
    await dialog.getByLabel('Message').fill('Two was wrong');
    await dialog.getByRole('button', { name: 'Roll back to v1' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByText('v3 was deployed to production').waitFor();
    // The button that closes the dialog has the focus, and leads to the new deployment.
    await page.keyboard.press('Enter');
    await expect.poll(() => entry(page, 'v3').textContent()).toMatch(/current.*Two was wrong/);
    const restored = await app.prisma.deployment.findFirstOrThrow({
      where: { botId: bot, version: 3 },
    });
    expect(restored).toMatchObject({ rolledBackToId: first, envNames: ['OLD'] });
  });

  browserTest(
    'lists the warnings of the server, with the variables that are restored',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      const first = await deploy(tenant, bot, {
        source: sendingTo('10.0.0.1', 'ABSENT'),
        envVars: [{ name: 'OLD', value: 'old-value-4711' }],
      });
      await deploy(tenant, bot, {
        source: saying('Two.'),
        envVars: [{ name: 'ABSENT', value: 'new-value-4711' }],
        unsetEnvVars: ['OLD'],
      });
      const page = await signedIn(tenant.apiKey, addressOf(bot, `/${first}`));
      await page.getByRole('button', { name: 'Roll back to this…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Roll back to v1' });
      await untilChecked(dialog);
      const problems = dialog.getByRole('list', { name: 'Problems' }).getByRole('listitem');
      await expect
        .poll(() => problems.allTextContents())
        .toEqual([
          expect.stringMatching(/Warning: env.OLD /),
          expect.stringMatching(/Warning: a private or local address .* PARLEY_ALLOWED_HOSTS$/),
          expect.stringMatching(/Warning: env.ABSENT has no value in this deployment$/),
        ]);
      expect(await dialog.getByText('no problems found').count()).toBe(0);
      await assertAccessible(page);
      await confirmIn(dialog, 'Roll back to v1').click();
      await dialog.getByText('v3 was deployed to production').waitFor();
    },
  );
});

describe('a promotion', () => {
  browserTest('keeps the variables of production, and warns of missing ones', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await deploy(tenant, bot, { envVars: [{ name: 'URL', value: 'https://one.example' }] });
    const staged = await deploy(tenant, bot, {
      source: sendingTo('one.example', 'PLAN'),
      environment: 'STAGING',
      envVars: [{ name: 'PLAN', value: 'pro' }],
    });
    const page = await signedIn(tenant.apiKey, addressOf(bot, `/${staged}`));
    await page.getByRole('button', { name: 'Promote to production…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Promote v2 to production' });
    await dialog.getByText('env.PLAN has no value in this deployment').waitFor();
    await dialog.getByText('with the variables of production.').waitFor();
    await confirmIn(dialog, 'Promote to production…').click();
    await confirmIn(dialog, /^Promote to production with \d warnings?$/).click();
    await dialog.getByText('v3 was deployed to production').waitFor();
    const promoted = await app.prisma.deployment.findFirstOrThrow({
      where: { botId: bot, version: 3 },
    });
    expect(promoted).toMatchObject({ environment: 'PRODUCTION', envNames: ['URL'] });
  });

  browserTest('takes the variables that production lacks', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await deploy(tenant, bot, { envVars: [{ name: 'URL', value: 'https://one.example' }] });
    const staged = await deploy(tenant, bot, {
      source: sendingTo('one.example', 'PLAN'),
      environment: 'STAGING',
      envVars: [{ name: 'PLAN', value: 'pro' }],
    });
    const page = await signedIn(tenant.apiKey, addressOf(bot, `/${staged}`));
    await page.getByRole('button', { name: 'Promote to production…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Promote v2 to production' });
    await dialog.getByLabel('env.PLAN').fill('plan-4711');
    await dialog.getByText('env.PLAN has no value').waitFor({ state: 'detached' });
    await assertAccessible(page);
    await confirmIn(dialog, /^Promote to production…?$/).click();
    await confirmIn(dialog, /^Promote to production with/).click();
    await dialog.getByText('v3 was deployed to production').waitFor();
    const where = { botId: bot, version: 3 };
    const promoted = await app.prisma.deployment.findFirstOrThrow({ where });
    expect(promoted).toMatchObject({
      environment: 'PRODUCTION',
      status: 'DEPLOYED',
      envNames: ['PLAN', 'URL'],
      message: 'Promotion of v2',
    });
  });
});
