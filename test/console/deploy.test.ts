import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp, testCipher } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import {
  addressOf,
  askToDeploy,
  confirmIn,
  deploy,
  saying,
  sendingTo,
} from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn, endSessions } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const NEW = '/new';

const definition = (page: Page) => page.getByRole('textbox', { name: 'Definition' });
const difference = (page: Page) => page.getByRole('region', { name: 'Definition: difference' });
const outcome = (page: Page) => page.getByRole('region', { name: 'Outcome' });
const confirm = (page: Page) => confirmIn(page.getByRole('dialog')).click();
const close = (page: Page) => page.getByRole('button', { name: 'Cancel' }).click();

/** Whether a request deploys this text. A check has no idempotency key. */
const deploys = (text: string, body: string | null) =>
  body?.includes(text) && body.includes('idempotencyKey');

/** Chooses a file with this text. */
const choose = (page: Page, name: string, text: string) =>
  page.setInputFiles('input[type=file]', {
    name,
    mimeType: 'text/plain',
    buffer: Buffer.from(text),
  });

/** The deployments of a bot, the last one first. */
const deploymentsOf = (botId: string) =>
  app.prisma.deployment.findMany({ where: { botId }, orderBy: { version: 'desc' } });

describe('a deploy', () => {
  browserTest(
    'shows what changes, takes variables that it never shows, and says the outcome',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      await deploy(tenant, bot, {
        source: sendingTo('one.example', 'TOKEN'),
        envVars: [
          { name: 'TOKEN', value: 'token-4711' },
          { name: 'OLD', value: 'old-4711' },
        ],
      });
      const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
      await page.getByText('This is v1, which runs in production.').waitFor();
      await askToDeploy(page);
      await page.getByTitle('Nothing differs from v1, which runs in production.').waitFor();
      await difference(page).getByText('unchanged').waitFor();
      await close(page);
      const source = await definition(page).inputValue();
      await definition(page).fill(
        source.replace('header "Key"', 'header "Plan" "{{ env.PLAN }}"\n        header "Key"'),
      );
      const dialog = await askToDeploy(page);
      await difference(page).getByText('1 line added').waitFor();
      const state = (name: string) =>
        page.locator('.variable', { hasText: `env.${name}` }).locator('.badge');
      await expect.poll(() => state('PLAN').textContent()).toBe('unset');
      await expect.poll(() => state('TOKEN').textContent()).toBe('carried over');
      await expect.poll(() => state('OLD').textContent()).toBe('unused');
      await page.getByText('Warning: env.PLAN has no value').waitFor();
      // What is missing has the focus.
      await expect
        .poll(() => page.getByLabel('env.PLAN').evaluate((field) => field.matches(':focus')))
        .toBe(true);
      await page.getByLabel('env.PLAN').fill('plan-4711');
      await page.getByText('Warning: env.PLAN has no value').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Remove OLD' }).click();
      await page.getByLabel('Message').fill('Send the plan');
      await assertAccessible(page);
      await assertFits(page);
      await dialog.getByText('This replaces v1 in production of Bot.').waitFor();
      await confirm(page);
      await outcome(page).getByText('v2 was deployed to production').waitFor();
      await assertAccessible(page);
      const [last] = await deploymentsOf(bot);
      expect(last).toMatchObject({ status: 'DEPLOYED', message: 'Send the plan' });
      expect(testCipher.decrypt(last?.id ?? '', last?.envVars ?? new Uint8Array())).toEqual({
        TOKEN: 'token-4711',
        PLAN: 'plan-4711',
      });
      await outcome(page).getByRole('link', { name: 'Open the deployment' }).click();
      await page.getByRole('region', { name: 'Variables' }).getByText('PLAN').waitFor();
      expect(await page.content()).not.toMatch(/(plan|token|old)-4711/);
    },
  );

  browserTest(
    'reads a file, names its errors with their lines, and is not possible until then',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot();
      const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
      await choose(page, 'large.agent', '#'.repeat(256 * 1024 + 1));
      await page.getByText('large.agent is over 256 KiB.').waitFor();
      await choose(page, 'desk.agent', saying('Hello.').replace('prompt', 'promt'));
      await askToDeploy(page);
      await page.getByText('unknown setting "promt"').waitFor();
      const button = confirmIn(page.getByRole('dialog'));
      await expect.poll(() => button.getAttribute('title')).toBe('Correct the errors first.');
      await page.getByRole('button', { name: /^Go to 5:/ }).click();
      await expect
        .poll(() =>
          definition(page).evaluate((field: HTMLTextAreaElement) =>
            field.value.slice(field.selectionStart, field.selectionEnd),
          ),
        )
        .toContain('promt "Hello."');
    },
  );

  browserTest('says that another one took its place meanwhile, before and after it', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
    await definition(page).fill(saying('Mine.'));
    const dialog = await askToDeploy(page);
    await difference(page).getByText('Mine.').waitFor();
    await deploy(tenant, bot, { source: saying('Theirs.') });
    await dialog.getByText('v2 was deployed to production elsewhere').waitFor();
    await dialog.getByText('This replaces v2 in production').waitFor();
    await dialog.locator('del').getByText('Theirs').waitFor();
    // This one is deployed after the answer left and before the screen could learn of the other.
    await page.route('**/graphql', async (route) => {
      if (deploys('Mine.', route.request().postData()))
        await deploy(tenant, bot, { source: saying('Late.') });
      await route.continue();
    });
    await confirm(page);
    await outcome(page).getByText('It replaced v3, which was deployed elsewhere').waitFor();
    expect((await deploymentsOf(bot)).map(({ version }) => version)).toEqual([4, 3, 2, 1]);
    await page.unroute('**/graphql');
  });

  browserTest('is not taken for another one while its answer is on its way', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
    await definition(page).fill(saying('Mine.'));
    const dialog = await askToDeploy(page);
    const answer = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      if (!deploys('Mine.', route.request().postData())) return route.continue();
      const response = await route.fetch();
      await answer.promise;
      return route.fulfill({ response });
    });
    await confirm(page);
    await dialog.getByText('v2 runs in production').waitFor();
    expect(await dialog.getByText('elsewhere').count()).toBe(0);
    answer.resolve();
    await outcome(page).getByText('v2 was deployed to production').waitFor();
    await page.unroute('**/graphql');
  });

  browserTest('keeps the input if the session ends', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
    await definition(page).fill(sendingTo('one.example', 'TOKEN'));
    await askToDeploy(page);
    await page.getByLabel('env.TOKEN').fill('token-4711');
    await page.getByLabel('Message').fill('A long thought');
    await page.getByText('Warning: env.TOKEN has no value').waitFor({ state: 'detached' });
    await endSessions(tenant);
    // The page follows the deployments, so that it learns of the end by itself.
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    await again.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await again.waitFor({ state: 'detached' });
    await confirmIn(page.getByRole('dialog', { name: 'Deploy to production' })).click();
    await outcome(page).getByText('v2 was deployed to production').waitFor();
    const [last] = await deploymentsOf(bot);
    expect(last).toMatchObject({ message: 'A long thought', envNames: ['TOKEN'] });
  });

  browserTest('whose answer is lost is not done twice', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
    await definition(page).fill(saying('Once.'));
    await askToDeploy(page);
    await page.getByLabel('Message').fill('A long thought');
    let isLost = false;
    await page.route('**/graphql', async (route) => {
      if (isLost || !deploys('Once.', route.request().postData())) return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await confirm(page);
    await page.getByRole('dialog').getByText('Parley does not answer.').waitFor();
    await expect.poll(() => page.getByLabel('Message').inputValue()).toBe('A long thought');
    await confirm(page);
    await outcome(page).getByText('v2 was deployed to production').waitFor();
    expect(await deploymentsOf(bot)).toHaveLength(2);
  });

  browserTest('keeps the variables of production and staging apart', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
    await definition(page).fill(sendingTo('one.example', 'TOKEN'));
    const field = page.getByLabel('env.TOKEN');
    const dialog = page.getByRole('dialog');
    await askToDeploy(page);
    await field.fill('production-4711');
    await page.getByLabel('Message').fill('A long thought');
    await dialog.getByRole('button', { name: 'Staging', exact: true }).click();
    await page.getByText('Nothing runs in staging yet.').waitFor();
    await expect.poll(() => field.inputValue()).toBe('');
    await expect.poll(() => page.getByLabel('Message').inputValue()).toBe('A long thought');
    await page.getByText('Warning: env.TOKEN has no value').waitFor();
    // Staging asks no further question.
    await page.getByRole('button', { name: 'Deploy to staging', exact: true }).click();
    await outcome(page).getByText('v2 was deployed to staging').waitFor();
    const [last] = await deploymentsOf(bot);
    expect(last).toMatchObject({ environment: 'STAGING', envNames: [] });
    await page.keyboard.press('Enter');
    await outcome(page).waitFor({ state: 'detached' });
    await askToDeploy(page);
    await dialog.getByRole('button', { name: 'Production', exact: true }).click();
    await expect.poll(() => field.inputValue()).toBe('production-4711');
    await page.keyboard.press('Escape');
    // A closed dialog keeps the value, also for another definition.
    await definition(page).fill(sendingTo('two.example', 'TOKEN'));
    await askToDeploy(page);
    await expect.poll(() => field.inputValue()).toBe('production-4711');
  });

  browserTest('to production asks once more if the checks have warnings', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
    await definition(page).fill(sendingTo('one.example', 'TOKEN'));
    const dialog = await askToDeploy(page);
    await dialog.getByText('Warning: env.TOKEN has no value').waitFor();
    await confirmIn(dialog, 'Deploy to production…').click();
    const question = dialog.getByRole('alert');
    await question.getByText('The checks have 1 warning.').waitFor();
    await expect.poll(() => question.evaluate((text) => text.matches(':focus'))).toBe(true);
    await assertAccessible(page);
    await assertFits(page);
    await dialog.getByRole('button', { name: 'Back' }).click();
    await confirmIn(dialog, 'Deploy to production…').click();
    await confirmIn(dialog, 'Deploy to production with 1 warning').click();
    await outcome(page).getByText('v2 was deployed to production').waitFor();
    expect(await deploymentsOf(bot)).toHaveLength(2);
  });

  browserTest('asks again if what it would replace has changed since the question', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
    await definition(page).fill(sendingTo('one.example', 'TOKEN'));
    const dialog = await askToDeploy(page);
    await dialog.getByText('Warning: env.TOKEN has no value').waitFor();
    const button = confirmIn(dialog, 'Deploy to production…');
    const confirmation = confirmIn(dialog, 'Deploy to production with 1 warning');
    await button.click();
    await confirmation.waitFor();
    await dialog.getByRole('button', { name: 'Staging', exact: true }).click();
    await dialog.getByRole('button', { name: 'Production', exact: true }).click();
    await button.click();
    await confirmation.waitFor();
    await deploy(tenant, bot, { source: saying('Somebody else.') });
    await button.click();
    await confirmation.waitFor();
    await dialog.getByLabel('env.TOKEN').fill('token-4711');
    await confirmIn(dialog).waitFor();
    await dialog.getByLabel('env.TOKEN').fill('');
    await button.click();
    await confirmation.click();
    await outcome(page).getByText('v3 was deployed to production').waitFor();
  });

  browserTest('that sends a variable to another server asks for its value again', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await deploy(tenant, bot, {
      source: sendingTo('one.example', 'TOKEN'),
      envVars: [{ name: 'TOKEN', value: 'token-4711' }],
    });
    const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
    await definition(page).fill(sendingTo('two.example', 'TOKEN'));
    await askToDeploy(page);
    const field = page.getByLabel('env.TOKEN');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await page.getByText('Error: env.TOKEN was not sent to').waitFor();
    const button = confirmIn(page.getByRole('dialog'));
    await expect.poll(() => button.getAttribute('title')).toBe('Correct the errors first.');
    await assertAccessible(page);
    await field.fill('token-4711');
    await expect.poll(() => button.getAttribute('title')).toBe(null);
    await confirm(page);
    await outcome(page).getByText('v2 was deployed to production').waitFor();
    expect(await deploymentsOf(bot)).toHaveLength(2);
  });

  browserTest('is decided by the server if its check gets no answer', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await deploy(tenant, bot, {
      source: sendingTo('one.example', 'TOKEN'),
      envVars: [{ name: 'TOKEN', value: 'token-4711' }],
    });
    const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
    await page.route('**/graphql', (route) => {
      const body = route.request().postData();
      const isCheck = body?.includes('two.example') && !body.includes('idempotencyKey');
      return isCheck ? route.fulfill({ status: 500, body: '' }) : route.continue();
    });
    await definition(page).fill(sendingTo('two.example', 'TOKEN'));
    await askToDeploy(page);
    await page.getByRole('alert').waitFor();
    await confirm(page);
    await outcome(page).getByText('v2 failed, and production is unchanged').waitFor();
    await outcome(page).getByText('env.TOKEN was not sent to').waitFor();
    await assertAccessible(page);
  });

  browserTest(
    'compares definitions of 256 KiB, in the layout that the address chooses',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      const large = (word: string) =>
        `agentlang 5\n${Array.from({ length: 9_000 }, (_, at) => `# ${word} line ${at}`).join('\n')}\n`;
      await deploy(tenant, bot, { source: `${large('one')}${saying('Hi.').slice(12)}` });
      const page = await signedIn(tenant.apiKey, addressOf(bot, NEW));
      await choose(page, 'large.agent', `${large('two')}${saying('Hi.').slice(12)}`);
      await askToDeploy(page);
      await difference(page).getByText('9,000 lines added, 9,000 removed').waitFor();
      await page.getByRole('button', { name: /^Show [\d,]+ more lines$/ }).click();
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TR');
      await page.getByRole('button', { name: 'Unified' }).click();
      await page.locator('.diff-unified').waitFor();
      await expect.poll(() => new URL(page.url()).searchParams.get('diff')).toBe('unified');
      await page.getByRole('button', { name: 'Side by side' }).click();
      await page.locator('.diff-split').waitFor();
      await page.setViewportSize({ width: 800, height: 700 });
      await page.locator('.diff-unified').waitFor();
    },
  );

  browserTest('is not possible for a key without the scope, and says why', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const key = await tenant.key({ scopes: ['RUNS', 'CHAT'] });
    const page = await signedIn(key, addressOf(bot, NEW));
    await definition(page).fill(saying('Hello.'));
    const button = page.getByRole('button', { name: 'Deploy…', exact: true });
    await expect.poll(() => button.getAttribute('title')).toBe('Your key lacks the scope deploy.');
  });
});
