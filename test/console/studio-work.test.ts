import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { askToDeploy, confirmIn, sendingTo } from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith, ask, askForStory, lastAsked, saveCity } from './playground-page.ts';
import { editorOf, paste, studioOf, textOf, write } from './studio-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn, open: openPage } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const MINE = agent('history last 5 messages');
const THEIRS = agent('history last 7 messages');
const OTHER = agent('history last 9 messages');
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

/** The text of an editor, once its lines are laid out. */
async function deployedIn(page: Page): Promise<string> {
  await expect.poll(() => textOf(page)).toBe(agent());
  return agent();
}

/** Opens the Studio in another tab of the same browser. */
async function openTab(page: Page, bot: string): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(studioOf(bot));
  await editorOf(tab).waitFor();
  return tab;
}

async function reload(page: Page): Promise<void> {
  await page.reload();
  await editorOf(page).waitFor();
}

/** The texts that the browser keeps, in the order of their characters. */
const keptTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    Object.entries({ ...localStorage })
      .filter(([name]) => name.startsWith('studio:'))
      .map(([, stored]) => JSON.parse(stored).text)
      .sort(),
  );

/** Waits until the browser keeps these texts and no others. */
const untilKept = (page: Page, ...texts: string[]) =>
  expect.poll(() => keptTexts(page)).toEqual(texts.sort());

/** Writes `OTHER` in a second tab. After a reload, each tab has its own text. */
async function writeAndReload(page: Page, other: Page): Promise<void> {
  await write(other, OTHER);
  await untilKept(page, MINE, OTHER);
  await reload(page);
  await expect.poll(() => textOf(page)).toBe(MINE);
  await reload(other);
  await expect.poll(() => textOf(other)).toBe(OTHER);
}

describe('changes that are not deployed', () => {
  browserTest('survive a reload and another screen, and end with the way back', async () => {
    const { page } = await open();
    const deployed = await deployedIn(page);
    await write(page, MINE);
    await page.getByText(KEPT).waitFor();
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await page.goBack();
    await editorOf(page).waitFor();
    await expect.poll(() => textOf(page)).toBe(MINE);
    await page.reload();
    await editorOf(page).waitFor();
    await expect.poll(() => textOf(page)).toBe(MINE);
    await page.getByRole('button', { name: 'Staging' }).click();
    await page.getByText('Nothing is deployed to staging.').waitFor();
    await expect.poll(() => textOf(page)).toBe(deployed);
    await page.getByRole('button', { name: 'Production' }).click();
    await expect.poll(() => textOf(page)).toBe(MINE);
    await write(page, deployed);
    await untilKept(page);
  });

  browserTest('stay if another tab shows a deploy from elsewhere, or has changes too', async () => {
    const { page, bot, deploy } = await open();
    const other = await openTab(page, bot);
    await write(page, MINE);
    await untilKept(page, MINE);
    await deploy(THEIRS);
    await expect.poll(() => textOf(other)).toBe(THEIRS);
    await other.getByText('deployed', { exact: true }).waitFor();
    await writeAndReload(page, other);
    await write(other, THEIRS);
    await untilKept(page, MINE);
    await reload(page);
    await expect.poll(() => textOf(page)).toBe(MINE);
  });

  browserTest('open in another tab, which leaves them to the first one', async () => {
    const { page, bot } = await open();
    const deployed = await deployedIn(page);
    await write(page, MINE);
    await untilKept(page, MINE);
    const other = await openTab(page, bot);
    await expect.poll(() => textOf(other)).toBe(MINE);
    await other.getByText(KEPT).waitFor();
    await write(other, OTHER);
    await untilKept(page, MINE, OTHER);
    await write(other, deployed);
    await untilKept(page, MINE);
    await write(page, THEIRS);
    await untilKept(page, THEIRS);
    await other.close();
    await page.close();
    const next = await openTab(page, bot);
    await expect.poll(() => textOf(next)).toBe(THEIRS);
    await write(next, OTHER);
    await untilKept(next, OTHER);
    await write(next, deployed);
    await untilKept(next);
  });

  browserTest('of a duplicated tab do not replace the changes of the first tab', async () => {
    const { page, bot } = await open();
    await write(page, MINE);
    await untilKept(page, MINE);
    const session = await page.evaluate(() => Object.entries({ ...sessionStorage }));
    const other = await page.context().newPage();
    await other.addInitScript((entries) => {
      for (const [name, value] of entries)
        if (sessionStorage.getItem(name) === null) sessionStorage.setItem(name, value);
    }, session);
    await other.goto(studioOf(bot));
    await editorOf(other).waitFor();
    await expect.poll(() => textOf(other)).toBe(MINE);
    await writeAndReload(page, other);
  });

  browserTest('are kept for eight places, those that changed last', async () => {
    const { page } = await open();
    const old = Array.from({ length: 9 }, (_, at) => `text ${at}`);
    await page.evaluate((texts) => {
      for (const [at, text] of texts.entries())
        localStorage.setItem(
          `studio:account:bot-${at}:PRODUCTION:tab`,
          JSON.stringify({ text, baseId: null, savedAt: at }),
        );
    }, old);
    await write(page, MINE);
    await untilKept(page, MINE, ...old.slice(2));
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
    await page.getByRole('link', { name: 'Talk to it' }).waitFor();
    await page.getByRole('link', { name: 'Studio' }).click();
    await editorOf(page).waitFor();
    await write(page, MINE);
    await page.getByText('This browser cannot keep your changes.').waitFor();
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Studio' }).click();
    await editorOf(page).waitFor();
    await expect.poll(() => textOf(page)).toBe(MINE);
    await expect.poll(() => page.url()).toContain(bot);
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
      await expect.poll(() => textOf(page)).toBe(MINE);
      await assertAccessible(page);
      await assertFits(page);
      await page.getByRole('button', { name: 'Show the difference' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your text and the active definition' });
      await dialog.getByText('last 7').first().waitFor();
      await assertAccessible(page);
      await dialog.getByRole('button', { name: 'Keep mine' }).click();
      await page.getByText('v2 runs').waitFor({ state: 'detached' });
      await expect.poll(() => textOf(page)).toBe(MINE);
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
    const deployed = await deployedIn(other);
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
    await expect.poll(() => textOf(page)).toBe(MINE);
    await expect.poll(() => textOf(other)).toBe(deployed);
    for (const one of [page, other])
      await expect
        .poll(() => one.getByRole('button', { name: 'Show the difference' }).count())
        .toBe(0);
    await deploy(THEIRS);
    await page.getByRole('button', { name: 'Show the difference' }).waitFor();
    await expect.poll(() => textOf(other)).toBe(THEIRS);
    await expect.poll(() => textOf(page)).toBe(MINE);
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

  browserTest('begins as the chat page does, and follows the text', async () => {
    const { page } = await open();
    answerWith(app, 'Ahoy!');
    const web = (welcome: string) =>
      agent(`channel web { title "ACME" welcome "${welcome}" suggestions "Where is my order?" }`);
    await write(page, web('Hi!'));
    const chatPage = page.getByRole('region', { name: 'The chat page' });
    await chatPage.getByText('Hi!').waitFor();
    await write(page, web('Welcome!'));
    await chatPage.getByText('Welcome!').waitFor();
    await assertAccessible(page);
    await chatPage.getByRole('button', { name: 'Where is my order?' }).click();
    await page.locator('.turn-reply').getByText('Ahoy!').waitFor();
    expect(JSON.stringify(lastAsked(app))).toContain('Where is my order?');
    expect(await chatPage.count()).toBe(0);
  });

  browserTest('continues its conversation with each message', async () => {
    const { page } = await open();
    answerWith(app, 'Ahoy!');
    await write(page, agent('prompt "You are a pirate."'));
    await page.getByText(KEPT).waitFor();
    await ask(page, 'I am Ann.');
    await page.getByText(/first text after .* tokens/).waitFor();
    await ask(page, 'Who am I?');
    await page
      .getByText(/first text after .* tokens/)
      .nth(1)
      .waitFor();
    expect(JSON.stringify(lastAsked(app))).toContain('I am Ann.');
  });

  browserTest('remembers facts, also without history', async () => {
    const { page } = await open('', 'history none\nmemory { city "Where orders go" }');
    await expect.poll(() => textOf(page)).toContain('memory');
    saveCity(app);
    await ask(page, 'I live in Oslo.');
    await page.getByText(/first text after .* tokens/).waitFor();
    await ask(page, 'Where do I live?');
    await page
      .getByText(/first text after .* tokens/)
      .nth(1)
      .waitFor();
    const messages = JSON.stringify(lastAsked(app));
    expect(messages).toContain('Oslo, Norway');
    expect(messages).not.toContain('I live in Oslo.');
  });

  browserTest('streams, stops, and begins anew', async () => {
    const { page } = await open();
    await askForStory(app, page);
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
    await page.getByText('1 variable unset', { exact: true }).click();
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
  const dialog = await askToDeploy(page);
  await dialog.getByLabel('Message', { exact: true }).fill('Shorter history');
  await assertAccessible(page);
  await assertFits(page);
  await dialog.getByText('history last 5 messages').first().waitFor();
  await confirmIn(dialog).click();
  await dialog.getByText('v2 was deployed to production').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByText('deployed', { exact: true }).waitFor();
  const { deployment: active } = await app.prisma.activeDeployment.findFirstOrThrow({
    where: { botId: bot, environment: 'PRODUCTION' },
    include: { deployment: true },
  });
  expect([active.source, active.message]).toEqual([MINE, 'Shorter history']);
  await expect.poll(() => page.getByText('Your text is based on an earlier one').count()).toBe(0);
  await page.reload();
  await editorOf(page).waitFor();
  await expect.poll(() => textOf(page)).toBe(MINE);
});

describe('the deploy dialog of the Studio', () => {
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
    const dialog = await askToDeploy(page);
    await dialog.getByText('Error: env.KEY was not sent to').waitFor();
    await expect.poll(() => dialog.getByLabel('env.KEY').getAttribute('aria-invalid')).toBe('true');
    expect(await app.prisma.deployment.count({ where: { botId: bot } })).toBe(2);
    // A position of a problem closes the dialog, and the cursor goes there.
    await dialog.getByRole('button', { name: /^Go to \d+:/ }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect
      .poll(() => editorOf(page).evaluate((editor) => editor.matches(':focus')))
      .toBe(true);
  });

  browserTest('keeps its input and a lost deploy while it is closed', async () => {
    const { page, bot } = await open();
    await write(page, sendingTo('one.example', 'TOKEN'));
    const dialog = await askToDeploy(page);
    await dialog.getByLabel('env.TOKEN').fill('token-4711');
    await dialog.getByLabel('Message', { exact: true }).fill('A long thought');
    await dialog.getByText('env.TOKEN has no value').waitFor({ state: 'detached' });
    let isLost = false;
    await page.route('**/graphql', async (route) => {
      if (isLost || !route.request().postData()?.includes('idempotencyKey'))
        return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await confirmIn(dialog).click();
    await dialog.getByText('Parley does not answer.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await askToDeploy(page);
    await expect.poll(() => dialog.getByLabel('env.TOKEN').inputValue()).toBe('token-4711');
    await expect
      .poll(() => dialog.getByLabel('Message', { exact: true }).inputValue())
      .toBe('A long thought');
    await confirmIn(dialog).click();
    await dialog.getByText('v2 was deployed to production').waitFor();
    expect(await app.prisma.deployment.count({ where: { botId: bot } })).toBe(2);
  });

  browserTest('checks nothing while it is closed', async () => {
    const { page } = await open();
    const checked: string[] = [];
    page.on('request', (request) => checked.push(request.postData() ?? ''));
    const isChecked = (text: string) =>
      checked.some((body) => body.includes(JSON.stringify(text).slice(1, -1)));
    await write(page, MINE);
    await untilKept(page, MINE);
    const dialog = await askToDeploy(page);
    await expect.poll(() => isChecked(MINE)).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await write(page, OTHER);
    // A text is kept at a longer pause than it is checked.
    await untilKept(page, OTHER);
    await write(page, THEIRS);
    await untilKept(page, THEIRS);
    await askToDeploy(page);
    await expect.poll(() => isChecked(THEIRS)).toBe(true);
    expect(isChecked(OTHER)).toBe(false);
  });

  browserTest('refuses a pasted definition over 256 KiB, and takes a shorter one', async () => {
    const { page } = await open();
    await editorOf(page).focus();
    await page.keyboard.press('Control+a');
    await paste(page, '#'.repeat(256 * 1024 + 1));
    const dialog = await askToDeploy(page);
    await dialog.getByText('Error: the source is over 262144 bytes').waitFor();
    await expect
      .poll(() => confirmIn(dialog).getAttribute('title'))
      .toBe('Correct the errors first.');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await editorOf(page).focus();
    await page.keyboard.press('Control+a');
    await paste(page, MINE);
    await askToDeploy(page);
    await expect.poll(() => confirmIn(dialog).getAttribute('title')).toBe(null);
  });
});
