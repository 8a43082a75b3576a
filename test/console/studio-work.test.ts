import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { makeId } from '../../src/ids.ts';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { askToDeploy } from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith, ask, lastAsked } from './playground-page.ts';
import { editorOf, paste, studioOf, textOf, write } from './studio-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn, open: openPage } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const MINE = agent('history last 5 messages');
const THEIRS = agent('history last 7 messages');
const KEPT = 'Your changes are kept in this browser.';

async function open(search = '', members: string | null = '') {
  const tenant = await app.tenant();
  const bot = await tenant.bot(members);
  const page = await signedIn(tenant.apiKey, studioOf(bot, search));
  await editorOf(page).waitFor();
  const deploy = (source: string, environment = 'PRODUCTION') =>
    tenant.graphql(
      'mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) { id } }',
      { botId: bot, input: { source, environment } },
    );
  return { page, tenant, bot, deploy };
}

/** The text that the browser keeps once it is there. */
const untilKept = (page: Page, text: string) =>
  expect
    .poll(() => page.evaluate(() => Object.values({ ...localStorage }).join('\n')))
    .toContain(JSON.stringify(text).slice(1, -1));

describe('changes that are not deployed', () => {
  browserTest('survive a reload and another screen, and end with the way back', async () => {
    const { page } = await open();
    const deployed = await textOf(page);
    await write(page, MINE);
    await page.getByText(KEPT).waitFor();
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await page.goBack();
    await editorOf(page).waitFor();
    expect(await textOf(page)).toBe(MINE);
    await page.reload();
    await editorOf(page).waitFor();
    expect(await textOf(page)).toBe(MINE);
    await page.getByRole('button', { name: 'Staging' }).click();
    await page.getByText('Nothing is deployed to staging.').waitFor();
    await expect.poll(() => textOf(page)).toBe(deployed);
    await page.getByRole('button', { name: 'Production' }).click();
    await expect.poll(() => textOf(page)).toBe(MINE);
    await write(page, deployed);
    await expect
      .poll(() =>
        page.evaluate(() => Object.keys(localStorage).filter((name) => /^studio/.test(name))),
      )
      .toEqual([]);
  });

  browserTest('stay in the tab if the browser blocks storage, which the screen says', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await openPage();
    await page.addInitScript(() => {
      const blocked = () => {
        throw new DOMException('Blocked.', 'SecurityError');
      };
      for (const name of ['getItem', 'setItem', 'removeItem'])
        Object.defineProperty(Storage.prototype, name, { value: blocked });
    });
    await page.goto('/bots');
    await page.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Bot', exact: true }).first().click();
    await page.getByLabel('Message').waitFor();
    await page.getByRole('link', { name: 'Studio' }).click();
    await editorOf(page).waitFor();
    await write(page, MINE);
    await page.getByText('This browser cannot keep your changes.').waitFor();
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Studio' }).click();
    await editorOf(page).waitFor();
    expect(await textOf(page)).toBe(MINE);
    expect(page.url()).toContain(bot);
    const asked = page.waitForEvent('dialog');
    const reloaded = page.reload().catch(() => {});
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.accept();
    await reloaded;
  });
});

describe('a deploy from elsewhere', () => {
  browserTest('replaces a text without changes', async () => {
    const { page, deploy } = await open();
    await deploy(THEIRS);
    await expect.poll(() => textOf(page)).toBe(THEIRS);
    await page.getByText('deployed', { exact: true }).waitFor();
  });

  browserTest(
    'leaves changes as they are, shows the difference, and gives way to either',
    async () => {
      const { page, deploy } = await open();
      await write(page, MINE);
      await page.getByText(KEPT).waitFor();
      await deploy(THEIRS);
      await page.getByText('v2 runs').waitFor();
      expect(await textOf(page)).toBe(MINE);
      await assertAccessible(page);
      await assertFits(page);
      await page.getByRole('button', { name: 'Show the difference' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your text and what runs' });
      await dialog.getByText('last 7').first().waitFor();
      await assertAccessible(page);
      await dialog.getByRole('button', { name: 'Keep mine' }).click();
      await page.getByText('v2 runs').waitFor({ state: 'detached' });
      expect(await textOf(page)).toBe(MINE);
      await untilKept(page, MINE);
      await deploy(agent('history none'));
      await page.getByText('v3 runs').waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'Open v3' }).click();
      await expect.poll(() => textOf(page)).toContain('history none');
      await page.getByText('v3 runs').waitFor({ state: 'detached' });
      await editorOf(page).focus();
      await page.keyboard.press('Control+z');
      await expect.poll(() => textOf(page)).toBe(MINE);
    },
  );
});

describe('a deploy that fails half way', () => {
  browserTest('leaves two open Studios as they are, and shows the next one in both', async () => {
    const { page, tenant, bot, deploy } = await open();
    const other = await signedIn(tenant.apiKey, studioOf(bot));
    await editorOf(other).waitFor();
    const deployed = await textOf(other);
    await write(page, MINE);
    await page.getByText(KEPT).waitFor();
    const diagnostic = { severity: 'ERROR', code: 'channel-unavailable', message: 'Refused.' };
    const failing = await app.prisma.deployment.create({
      data: {
        id: makeId('dep'),
        botId: bot,
        environment: 'PRODUCTION',
        status: 'PENDING',
        source: THEIRS,
      },
    });
    // A deploy to staging lets both Studios read again.
    await deploy(THEIRS, 'STAGING');
    await app.prisma.deployment.update({
      where: { id: failing.id },
      data: { status: 'FAILED', diagnostics: [{ ...diagnostic, line: 1, column: 1 }] },
    });
    const reads = [page, other].map((one) => one.waitForResponse('**/graphql'));
    await deploy(agent('history last 8 messages'), 'STAGING');
    await Promise.all(reads);
    expect(await textOf(page)).toBe(MINE);
    expect(await textOf(other)).toBe(deployed);
    for (const one of [page, other])
      expect(await one.getByRole('button', { name: 'Show the difference' }).count()).toBe(0);
    await deploy(THEIRS);
    await page.getByRole('button', { name: 'Show the difference' }).waitFor();
    await expect.poll(() => textOf(other)).toBe(THEIRS);
    expect(await textOf(page)).toBe(MINE);
  });
});

describe('the test chat', () => {
  browserTest('runs the text of the editor as a draft, in a session of its own', async () => {
    const { page, bot } = await open();
    answerWith(app, 'Ahoy!');
    await write(page, agent('prompt "You are a pirate."'));
    await page.getByText(KEPT).waitFor();
    await ask(page, 'Hello');
    await page.locator('.turn-reply').getByText('Ahoy!').waitFor();
    await page.getByText(/first text after .* tokens/).waitFor();
    expect(JSON.stringify(lastAsked(app))).toContain('You are a pirate.');
    const runs = await app.prisma.run.findMany({ where: { botId: bot } });
    expect(runs.map(({ kind }) => kind)).toEqual(['DRAFT']);
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('tab', { name: 'Outline' }).click();
    await page.getByRole('tab', { name: 'Test chat' }).click();
    await page.getByRole('link', { name: 'run', exact: true }).click();
    await page.waitForURL(`**/runs/${runs[0]?.id}`);
  });

  browserTest('streams, stops, and begins anew', async () => {
    const { page } = await open();
    app.upstream.script(async ({ say, end, closed }) => {
      say('Once upon a time');
      await closed;
      end();
    });
    await ask(page, 'Tell me a story');
    await page.getByText('Once upon a time').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/stopped · first text/).waitFor();
    await page.getByRole('button', { name: 'New session' }).click();
    await page.getByRole('heading', { name: 'Try it before you deploy it' }).waitFor();
  });

  browserTest('waits for errors to be corrected, and takes values for variables', async () => {
    const { page } = await open();
    await write(page, agent('histry none'));
    await page.locator('[title="Correct the errors first."]').first().waitFor();
    await write(page, agent('model "m" { api_key env.MODEL_KEY }'));
    await page.getByText('1 without a value').click();
    await page.getByLabel('MODEL_KEY').fill('secret-of-the-test');
    await page.getByText('Variables', { exact: true }).waitFor();
    await assertAccessible(page);
  });

  browserTest('shows in the editor problems that only the server finds', async () => {
    const { page, tenant, bot } = await open();
    const source = (host: string) =>
      agent(
        `tools web { capability find "Find" { get "https://${host}.example/" { header "A" "{{ env.KEY }}" } } }`,
      );
    await tenant.graphql(
      'mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) { id } }',
      { botId: bot, input: { source: source('one'), envVars: [{ name: 'KEY', value: 'value' }] } },
    );
    await expect.poll(() => textOf(page)).toContain('https://one.example/');
    await write(page, source('two'));
    await page.getByText(KEPT).waitFor();
    await ask(page, 'Hello');
    await page.locator('.turn-problem').getByText('definition_invalid').waitFor();
    await page.getByRole('tab', { name: /^Problems \d/ }).click();
    await page.getByRole('list', { name: 'Problems' }).getByText('KEY').first().waitFor();
  });
});

browserTest('a deploy from the Studio makes its text the running definition', async () => {
  const { page, bot } = await open();
  await write(page, MINE);
  await page.getByText(KEPT).waitFor();
  await page.getByRole('button', { name: 'Deploy…', exact: true }).click();
  await page
    .getByRole('region', { name: 'Deploy', exact: true })
    .getByLabel('Message', { exact: true })
    .fill('Shorter history');
  await assertAccessible(page);
  await assertFits(page);
  await askToDeploy(page);
  const dialog = page.getByRole('dialog', { name: 'Deploy to production?' });
  await dialog.getByText('history last 5 messages').first().waitFor();
  await dialog.getByRole('button', { name: 'Deploy to production' }).click();
  await page.getByText('Deployed v2 to production.').first().waitFor();
  await page.getByText('deployed', { exact: true }).waitFor();
  const { deployment: active } = await app.prisma.activeDeployment.findFirstOrThrow({
    where: { botId: bot, environment: 'PRODUCTION' },
    include: { deployment: true },
  });
  expect([active.source, active.message]).toEqual([MINE, 'Shorter history']);
  expect(await page.getByText('Your text is based on an earlier one').count()).toBe(0);
  await page.reload();
  await editorOf(page).waitFor();
  expect(await textOf(page)).toBe(MINE);
});

describe('the deploy panel of the Studio', () => {
  const openPanel = async (page: Page) => {
    await page.getByRole('button', { name: 'Deploy…', exact: true }).focus();
    await page.keyboard.press('Enter');
  };

  browserTest('says before a deploy what only the server finds wrong', async () => {
    const { page, tenant, bot } = await open();
    const source = (host: string) =>
      agent(
        `tools web { capability find "Find" { get "https://${host}.example/" { header "A" "{{ env.KEY }}" } } }`,
      );
    await tenant.graphql(
      'mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) { id } }',
      { botId: bot, input: { source: source('one'), envVars: [{ name: 'KEY', value: 'value' }] } },
    );
    await expect.poll(() => textOf(page)).toContain('https://one.example/');
    await write(page, source('two'));
    await openPanel(page);
    const panel = page.getByRole('region', { name: 'Deploy', exact: true });
    await panel.getByText('Error: env.KEY was not sent to').waitFor();
    expect(await panel.getByLabel('env.KEY').getAttribute('aria-invalid')).toBe('true');
    expect(await app.prisma.deployment.count({ where: { botId: bot } })).toBe(2);
  });

  browserTest('has the focus on its tab once its button was pressed', async () => {
    const { page } = await open();
    await openPanel(page);
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-name')))
      .toBe('deploy');
  });

  browserTest('refuses a pasted definition over 256 KiB, and takes a shorter one', async () => {
    const { page } = await open('?panel=deploy');
    await editorOf(page).focus();
    await page.keyboard.press('Control+a');
    await paste(page, '#'.repeat(256 * 1024 + 1));
    const panel = page.getByRole('region', { name: 'Deploy', exact: true });
    await panel.getByText('Error: the source is over 262144 bytes').waitFor();
    const button = panel.getByRole('button', { name: 'Deploy to production…' });
    expect(await button.getAttribute('title')).toBe('Correct the errors first.');
    await editorOf(page).focus();
    await page.keyboard.press('Control+a');
    await paste(page, MINE);
    await expect.poll(() => button.getAttribute('title')).toBe(null);
  });
});
