import type { Route } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { Bots, DefaultModelName } from '../../src/generated/operations/console.ts';
import { createOfflineModel } from '../../src/model/offline.ts';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { ask, askForStory, lastAsked, saveCity } from './playground-page.ts';
import { startProxy } from './proxy.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { open, signedIn, endSessions } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const LIMIT = 'Too many requests. Wait 42 seconds.';
const limitReached = {
  errors: [{ message: LIMIT, extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 42 } }],
};

const codeOf = async (tenant: Tenant) => {
  const { data } = await tenant.graphql('{ viewer { apiKey { id } } }');
  return app.issueSignInCode(data.viewer.apiKey.id);
};

describe('signing in to the console', () => {
  browserTest('works once by a link, and removes the code from the address', async () => {
    const tenant = await app.tenant();
    const code = await codeOf(tenant);
    const first = await open();
    await first.goto(`/sign-in#code=${code}`);
    await first.getByRole('heading', { name: 'Sign in by this link?' }).waitFor();
    expect(first.url()).toBe(`${app.url}/sign-in`);
    await first.getByText(tenant.accountId).waitFor();
    await assertAccessible(first);
    await assertFits(first);
    // Neither the link nor another visit of it has used the code up.
    await first.goto(`/sign-in#code=${code}`);
    await first.getByRole('button', { name: 'Sign in' }).click();
    await first.getByRole('heading', { name: 'Make your first bot' }).waitFor();
    await expect.poll(() => first.url()).toBe(`${app.url}/bots`);
    await assertAccessible(first);

    const second = await open();
    await second.goto(`/sign-in#code=${code}`);
    await second.getByText('This sign-in link has expired or was already used.').waitFor();
    await assertAccessible(second);
    await assertFits(second);
    await second.getByLabel('API key').fill(tenant.apiKey);
    await second.getByRole('button', { name: 'Sign in' }).click();
    await second.getByRole('heading', { name: 'Make your first bot' }).waitFor();
  });

  browserTest('by a link warns a browser with a session, which it keeps if refused', async () => {
    const [mine, theirs] = [await app.tenant(), await app.tenant()];
    await app.prisma.account.update({
      where: { id: theirs.accountId },
      data: { name: '<b>Mallory</b>' },
    });
    const page = await signedIn(mine.apiKey);
    // A link in the same tab, as a page of another site may open it.
    await page.goto(`/sign-in#code=${await codeOf(theirs)}`);
    await page.getByRole('heading', { name: 'Switch to another account?' }).waitFor();
    await page.getByText('This browser is signed in to Tenant').waitFor();
    await page.getByText('<b>Mallory</b>').first().waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('button', { name: 'Keep my session' }).click();
    await page.getByRole('button', { name: /^Account Tenant/ }).waitFor();
    const sessions = (tenant: Tenant) =>
      app.prisma.consoleSession.count({ where: { key: { accountId: tenant.accountId } } });
    expect([await sessions(mine), await sessions(theirs)]).toEqual([1, 0]);

    await page.goto(`/sign-in#code=${await codeOf(theirs)}`);
    await page.getByRole('button', { name: 'Switch account' }).click();
    await page.getByRole('button', { name: /^Account <b>Mallory/ }).waitFor();
    expect([await sessions(mine), await sessions(theirs)]).toEqual([0, 1]);

    await page.goto(`/sign-in#code=${await codeOf(theirs)}`);
    await page.getByText('This browser is already signed in to this account').waitFor();
    // A further link in the same tab changes only the fragment.
    await page.goto(`/sign-in#code=${await codeOf(mine)}`);
    await page.getByRole('heading', { name: 'Switch to another account?' }).waitFor();
  });

  browserTest('by a link can be tried again after a failure', async () => {
    const tenant = await app.tenant();
    const page = await open();
    await page.route('**/session/code', (route) => route.abort());
    await page.goto(`/sign-in#code=${await codeOf(tenant)}`);
    await page.getByText('Parley does not answer.').waitFor();
    await assertAccessible(page);
    await page.unroute('**/session/code');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
  });

  browserTest('reports a key of another server as invalid', async () => {
    const page = await open();
    await page.goto('/bots');
    await page.getByLabel('API key').fill(`parley_sk_${'0'.repeat(49)}`);
    await page.keyboard.press('Enter');
    await page.getByText('This API key is not valid.').waitFor();
  });

  browserTest('ends in every tab with the sign-out', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey);
    await page.getByRole('button', { name: /^Account Tenant/ }).click();
    await assertAccessible(page);
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect(
      await app.prisma.consoleSession.count({ where: { key: { accountId: tenant.accountId } } }),
    ).toBe(0);
  });

  browserTest('again keeps the entered text', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey, '/bots/new');
    await page.getByLabel('Name').fill('Night desk');
    await page.getByText('No bot has the id night-desk.').waitFor();
    await endSessions(tenant);
    await page.getByRole('button', { name: 'Create bot' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await assertAccessible(page);
    for (const _ of [1, 2, 3]) await page.keyboard.press('Escape');
    await dialog.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Night desk');
    await page.getByRole('button', { name: 'Create bot' }).click();
    await page.getByLabel('Definition').waitFor();
  });
});

describe('the request to sign in again', () => {
  browserTest('stays over another dialog until the session is proved', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const page = await signedIn(tenant.apiKey);
    await page.getByRole('button', { name: 'Actions for Bot' }).click();
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    const rename = page.getByRole('dialog', { name: 'Rename Bot' });
    await rename.getByLabel('Name').fill('Night desk');
    await endSessions(tenant);
    // The list is read again after the refused change.
    const background = Promise.withResolvers<Route>();
    await page.route('**/graphql', (route) => {
      if (route.request().postData()?.includes(Bots.documentId)) background.resolve(route);
      else void route.continue();
    });
    await rename.getByRole('button', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    const half = tenant.apiKey.slice(0, 14);
    await dialog.getByLabel('API key').fill(half);
    for (const _ of [1, 2, 3]) await page.keyboard.press('Escape');
    const refusal = { status: 429, json: limitReached };
    await (await background.promise).fulfill(refusal);
    await page.getByText(LIMIT).waitFor();
    await expect.poll(() => dialog.getByLabel('API key').inputValue()).toBe(half);

    // The sign-in works, but no answer proves the session yet.
    await page.unroute('**/graphql');
    await page.route('**/graphql', (route) => route.fulfill(refusal));
    await dialog.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await dialog.getByText(LIMIT).waitFor();
    await page.unroute('**/graphql');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => rename.getByLabel('Name').inputValue()).toBe('Night desk');
    await rename.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('link', { name: 'Night desk' }).waitFor();
    expect(await app.prisma.bot.count({ where: { id: bot, name: 'Night desk' } })).toBe(1);
  });
});

describe('a new account', () => {
  browserTest('is led to its first conversation', async () => {
    const tenant = await app.tenant();
    const taken = await tenant.bot(null);
    await app.prisma.bot.update({ where: { id: taken }, data: { name: '<b>Taken</b>' } });
    const page = await signedIn(tenant.apiKey);
    await page.getByText('<b>Taken</b>').waitFor();
    await page.getByRole('link', { name: 'New bot' }).click();

    const id = makeId('bot').replaceAll('_', '-');
    await page.getByLabel('Name').fill(id.toUpperCase());
    await page.getByText(`No bot has the id ${id}.`).waitFor();
    await page.getByLabel('Id').fill(taken);
    await page.getByText(`The id ${taken} is taken.`).waitFor();
    await page.getByLabel('Id').fill('run_1');
    await page.getByText('An id must not begin with run_.').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByLabel('Id').fill(id);
    await page.getByText(`No bot has the id ${id}.`).waitFor();
    await page.getByRole('button', { name: 'Create bot' }).click();

    await page.getByLabel('Definition').waitFor();
    await expect.poll(() => page.url()).toBe(`${app.url}/bots/${id}/start`);
    const definition = await page.getByLabel('Definition').inputValue();
    await page.getByLabel('Definition').fill(definition.replace('prompt', 'promt'));
    await page.getByText('Error: unknown setting "promt"').first().waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByLabel('Definition').fill(definition);
    await page.getByRole('button', { name: 'Deploy to production' }).click();

    app.upstream.script(async ({ say, end }) => {
      say('Hello <script>alert(1)</script>');
      end();
    });
    await page.getByLabel('Message').fill('Hi 👋 שלום');
    await page.keyboard.press('Enter');
    await page.getByText('Hello <script>alert(1)</script>').waitFor();
    await page.getByText(/first text after .* tokens/).waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.reload();
    await page.getByLabel('Message').waitFor();
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Bots', exact: true })
      .click();
    await page.getByRole('img', { name: '1 runs in the last 24 hours, 0 failed' }).waitFor();
  });

  browserTest(
    'tries a definition in staging first, and goes on with it in the Studio',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      const page = await signedIn(tenant.apiKey, `/bots/${bot}/start`);
      const tool = page.getByRole('link', { name: 'how to add a tool' });
      expect(await tool.getAttribute('href')).toBe('/guide/tutorial#5-an-http-tool');
      const definition = page.getByLabel('Definition');
      const source = (await definition.inputValue()).replace('of ACME', 'of Initech');
      await definition.fill(source);
      await page.getByRole('button', { name: 'Staging', exact: true }).click();
      await assertAccessible(page);
      await assertFits(page);
      await page.getByRole('button', { name: 'Deploy to staging' }).click();
      await page.getByRole('heading', { name: 'Deployed to staging' }).waitFor();
      const where = { botId: bot };
      const deployments = await app.prisma.deployment.findMany({ where });
      expect(deployments.map(({ environment }) => environment)).toEqual(['STAGING']);
      app.upstream.script(async ({ say, end }) => {
        say('Hello from staging.');
        end();
      });
      await ask(page, 'Hi');
      await page.getByText('Hello from staging.').waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Deployed to staging' }).waitFor();

      await page.getByRole('button', { name: 'Change' }).click();
      await expect.poll(() => definition.inputValue()).toBe(source);
      await definition.fill(source.replace('of Initech', 'of Globex'));
      await page.getByRole('link', { name: 'Edit in the Studio' }).click();
      await page.getByText('You welcome the visitors of Globex.').waitFor();
      expect(page.url()).toBe(`${app.url}/bots/${bot}/studio?environment=staging`);
    },
  );

  browserTest('learns from the form that the id of a deleted bot is taken', async () => {
    const tenant = await app.tenant();
    const id = await tenant.bot(null);
    await tenant.graphql(`mutation { deleteBot(id: "${id}") }`);
    const page = await signedIn(tenant.apiKey, '/bots/new');
    await page.getByLabel('Name').fill('Night desk');
    await page.getByLabel('Id').fill(id);
    await page.getByText(`No bot has the id ${id}.`).waitFor();
    await page.getByRole('button', { name: 'Create bot' }).click();
    await page.getByText(`"${id}" is taken`).waitFor();
  });

  browserTest('names the offline model only where it answers', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const hint = 'The offline model calls a tool';
    const operator = await tenant.key({ scopes: ['CHAT', 'RUNS', 'DEPLOY', 'OPERATOR'] });
    const page = await signedIn(operator, '/bots');
    const known = page.waitForResponse((response) =>
      (response.request().postData() ?? '').includes(DefaultModelName.documentId),
    );
    await page.goto(`/bots/${bot}/start`);
    await known;
    await page.getByText('Say hello.').waitFor();
    expect(await page.getByText(hint).count()).toBe(0);
    const own = await startApp({ model: createOfflineModel({ pace: 0 }) });
    const owner = await own.tenant();
    const key = await owner.key({ scopes: ['CHAT', 'RUNS', 'DEPLOY', 'OPERATOR'] });
    const other = await createVisits(() => own).signedIn(key, `/bots/${await owner.bot()}/start`);
    await other.getByText(hint).waitFor();
  });

  browserTest('stops a reply, and keeps its text', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/start`);
    await askForStory(app, page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/stopped · first text/).waitFor();
    await page.getByText('Once upon a time').waitFor();
  });

  browserTest('remembers messages and facts, and continues in the playground', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('memory { city "Where orders go" }');
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/start`);
    saveCity(app);
    await ask(page, 'I live in Oslo.');
    await page.getByText(/first text after .* tokens/).waitFor();
    await ask(page, 'Where do I live?');
    await page
      .getByText(/first text after .* tokens/)
      .nth(1)
      .waitFor();
    expect(JSON.stringify(lastAsked(app))).toContain('I live in Oslo.');
    await page.getByRole('link', { name: 'Open the playground' }).click();
    await page.getByText('Where do I live?').waitFor();
    await ask(page, 'And now?');
    await expect.poll(() => JSON.stringify(lastAsked(app))).toContain('And now?');
    expect(JSON.stringify(lastAsked(app))).toContain('Where do I live?');
  });

  browserTest('continues a reply after a network failure', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const network = await startProxy(app.url);
    atTheEnd(network.close);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/start`, network.url);
    const cut = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('Before, ');
      await cut.promise;
      say('and after.');
      end();
    });
    await page.getByLabel('Message').fill('Go on');
    await page.keyboard.press('Enter');
    await page.getByText('Before,').waitFor();
    network.cut();
    await page.getByText('Parley does not answer.').waitFor();
    await assertAccessible(page);
    cut.resolve();
    network.restore();
    await page.getByText('Parley is back.').waitFor();
    await page.getByText('Before, and after.').waitFor();
  });
});

describe('a screen whose code cannot be loaded', () => {
  browserTest('opens when the server is back, and keeps the page', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const network = await startProxy(app.url);
    atTheEnd(network.close);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/playground`, network.url);
    await page.getByLabel('Message').waitFor();
    await page.evaluate(() => {
      document.documentElement.dataset.page = 'first';
    });
    network.cut();
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByText('Parley does not answer.').first().waitFor();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    network.restore();
    await page.getByRole('heading', { name: 'No runs yet' }).waitFor();
    await expect.poll(() => page.locator('html').getAttribute('data-page')).toBe('first');
  });
});

browserTest('the cookie of the console gives a script no access to the REST API', async () => {
  const tenant = await app.tenant();
  const page = await signedIn(tenant.apiKey);
  const answer = await page.evaluate(async () => (await fetch('/v1/bots/demo/runs')).status);
  expect(answer).toBe(401);
});
