import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { askToDeploy, confirmIn } from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { editorOf, studioOf, textOf } from './studio-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const TESTS = `
  test "greets" {
    user "Hello"
    expect reply contains "welcome"
  }
  test "gives the price" {
    user "What does it cost?"
    expect reply contains "5 euros"
  }`;

/** A bot with two tests, of which the model fails the second one until it knows the price. */
const testedBot = async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot(TESTS);
  let price = 'a lot';
  app.upstream.script(({ request, say, end }) => {
    const isPrice = request.body.messages.at(-1)?.content === 'What does it cost?';
    say(isPrice ? `It costs ${price}.` : 'You are welcome here.');
    end();
  });
  const mend = () => {
    price = '5 euros';
  };
  return { tenant, bot, mend };
};

describe('the evaluations of a bot', () => {
  browserTest('run the tests of a deployment, and show why one failed', async () => {
    const { tenant, bot } = await testedBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/evaluations`);
    await page.getByRole('heading', { name: 'No evaluation yet' }).waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Evaluate…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('With v1, which runs there.').waitFor();
    await dialog
      .getByRole('status')
      .getByText(/^2 cases: about 2 model calls/)
      .waitFor();
    await assertAccessible(page);
    await dialog.getByLabel('Repeat').selectOption('2 times');
    await dialog.getByRole('button', { name: 'Staging' }).click();
    const start = dialog.getByRole('button', { name: 'Evaluate' });
    await expect.poll(() => start.getAttribute('title')).toBe('Nothing is deployed to staging.');
    await dialog.getByRole('button', { name: 'Production' }).click();
    await start.click();
    await page.getByRole('status').getByText('1 failed, 1 passed of 2').waitFor();
    const failed = page.getByRole('button', { name: /failed gives the price 0 of 2/ });
    await expect.poll(() => failed.getAttribute('aria-expanded')).toBe('true');
    await page.getByText('It costs a lot.').first().waitFor();
    await page.getByText('reply contains "5 euros"').first().waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await failed.click();
    await expect.poll(() => failed.getAttribute('aria-expanded')).toBe('false');
    await page.getByRole('button', { name: 'passed 1', exact: true }).click();
    await failed.waitFor({ state: 'detached' });
    await expect.poll(() => new URL(page.url()).search).toBe('?verdict=passed');
    // The page of one evaluation has no environment of its own.
    const environment = page.getByRole('group', { name: 'Environment', exact: true });
    expect(await environment.count()).toBe(0);
    await page.getByRole('link', { name: 'All evaluations' }).click();
    await environment.getByRole('button', { name: 'Staging' }).click();
    await page.getByRole('heading', { name: 'No evaluation in staging yet' }).waitFor();
    await environment.getByRole('button', { name: 'Production' }).click();
    const row = page.getByRole('table', { name: 'Evaluations' }).getByRole('row').nth(1);
    await row.getByText('1 failed, 1 passed of 2').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.setViewportSize({ width: 360, height: 800 });
    const list = page.getByRole('table', { name: 'Evaluations' }).locator('..');
    const overflow = () => list.evaluate((element) => element.scrollWidth - element.clientWidth);
    await expect.poll(overflow).toBe(0);
  });

  browserTest('repeat one test alone', async () => {
    const { tenant, bot, mend } = await testedBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/evaluations`);
    await page.getByRole('button', { name: 'Evaluate…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Evaluate', exact: true }).click();
    await page.getByRole('status').getByText('1 failed, 1 passed of 2').waitFor();
    mend();
    const before = page.url();
    await page.getByRole('button', { name: 'Repeat this case' }).click();
    await page.getByRole('status').getByText('1 passed of 1').waitFor();
    expect(page.url()).not.toBe(before);
    await page.getByRole('button', { name: /passed gives the price/ }).waitFor();
    await assertAccessible(page);
  });

  browserTest('say that an evaluation is missing, and that a verdict is unknown', async () => {
    const { tenant, bot } = await testedBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/evaluations/eva_1?verdict=mars`);
    await page.getByRole('heading', { name: 'There is no such evaluation' }).waitFor();
    await page
      .getByText('“mars” is not one of passed, failed, diverged, skipped. All cases are listed.')
      .waitFor();
    await assertAccessible(page);
    const chat = await tenant.key({ scopes: ['CHAT', 'RUNS'] });
    const other = await signedIn(chat, `/bots/${bot}/evaluations`);
    await other.getByRole('heading', { name: 'Your key lacks the scope deploy.' }).waitFor();
  });

  browserTest('repeat recorded runs, and show both replies', async () => {
    const { tenant, bot, mend } = await testedBot();
    const response = await tenant.chat(bot, { message: 'What does it cost?' });
    const { run_id: runId } = await response.json();
    mend();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/evaluations`);
    await page.getByRole('button', { name: 'Evaluate…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Recorded runs' }).click();
    await dialog.getByLabel('Newest runs').selectOption('10');
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Evaluate', exact: true }).click();
    const row = page.getByRole('button', { name: /What does it cost\?/ });
    await row.waitFor();
    await page.getByRole('status').getByText('of 1').waitFor();
    if ((await row.getAttribute('aria-expanded')) === 'false') await row.click();
    const comparison = page.getByRole('region', { name: 'Comparison with the recorded run' });
    await comparison.getByText('a lot').first().waitFor();
    await comparison.getByText('5 euros').first().waitFor();
    await assertAccessible(page);
    await assertFits(page);
    const before = page.url();
    await page.getByRole('button', { name: 'Repeat this case' }).click();
    await expect.poll(() => page.url()).not.toBe(before);
    await page.getByRole('status').getByText('of 1').waitFor();
    await page.getByRole('link', { name: 'Recorded run' }).click();
    await expect.poll(() => page.url()).toBe(`${app.url}/runs/${runId}`);
  });
});

browserTest(
  'a gate holds a deploy that fails a test, says why, and lets the mended one pass',
  async () => {
    const { tenant, bot, mend } = await testedBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/evaluations`);
    const gate = page.getByRole('region', { name: 'Gate of production' });
    await gate.getByText('off. A deploy becomes active without an evaluation.').waitFor();
    await gate.getByRole('button', { name: 'Set up…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Gate of production' });
    await dialog.getByRole('checkbox', { name: /Recorded runs of production/ }).check();
    await dialog.getByLabel('May be worse').fill('2');
    await assertAccessible(page);
    await dialog.getByRole('checkbox', { name: /Recorded runs of production/ }).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await gate.getByText('all tests must pass.').waitFor();
    await page.goto(studioOf(bot));
    await editorOf(page).focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('# Another one.\n');
    const deploy = async () => {
      const asked = await askToDeploy(page);
      await asked.getByText('all tests must pass.').waitFor();
      await confirmIn(asked).click();
    };
    await deploy();
    const outcome = page.getByRole('region', { name: 'Outcome' });
    await outcome.getByText(/The gate held v2 back, and production is unchanged/).waitFor();
    await outcome.getByText(/the test "gives the price" failed/).waitFor();
    await assertAccessible(page);
    await outcome.getByRole('link', { name: 'Open its evaluation' }).click();
    await page.getByRole('status').getByText('1 failed, 1 passed of 2').waitFor();
    mend();
    await page.goto(studioOf(bot));
    await editorOf(page).waitFor();
    await deploy();
    await outcome.getByText(/v3 was deployed to production/).waitFor();
    await page.goto(`/bots/${bot}`);
    const last = page.getByRole('region', { name: 'Last evaluation' });
    await last.getByText('v3 passed').waitFor();
    await last.getByRole('link', { name: 'Open its evaluation' }).click();
    await page.getByRole('status').getByText('2 passed of 2').waitFor();
  },
);

browserTest('a run becomes a test of the text in the Studio', async () => {
  const { tenant, bot } = await testedBot();
  const response = await tenant.chat(bot, { message: 'Where is "it"?', context: { plan: 'pro' } });
  const { run_id: runId } = await response.json();
  const page = await signedIn(tenant.apiKey, `/runs/${runId}`);
  await page.getByRole('button', { name: 'Copy and more' }).click();
  await page.getByRole('menuitem', { name: 'Add as test' }).click();
  await page.getByText('Added the test. Deploy the definition to keep it.').waitFor();
  await expect
    .poll(() => textOf(page))
    .toContain(`  test "Where is \\"it\\"?" {
    context "{\\"plan\\":\\"pro\\"}"
    user "Where is \\"it\\"?"
    expect reply judged "It says in substance: You are welcome here."
  }
}`);
  await page.getByRole('tab', { name: 'Tests' }).click();
  await page.getByRole('button', { name: 'Run 3 tests' }).waitFor();
  // A reload keeps the text, and adds nothing.
  await page.reload();
  await page.getByRole('button', { name: 'Run 3 tests' }).waitFor();
});

describe('the tests of the Studio', () => {
  browserTest('run with the text of the editor, and lead to the line that failed', async () => {
    const { tenant, bot, mend } = await testedBot();
    const page = await signedIn(tenant.apiKey, studioOf(bot, '?panel=tests'));
    await editorOf(page).waitFor();
    const run = page.getByRole('button', { name: 'Run 2 tests' });
    await run.click();
    const results = page.getByRole('region', { name: 'Results of the tests' });
    await results.getByRole('status').getByText('1 failed, 1 passed of 2').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await results
      .getByRole('button', { name: /^line / })
      .last()
      .click();
    await editorOf(page).and(page.locator(':focus')).waitFor();
    mend();
    await run.click();
    await results.getByRole('status').getByText('2 passed of 2').waitFor();
    const markOf = (name: string) => page.locator(`.cm-test[title*="${name}"]`);
    await expect.poll(() => markOf('gives the price').getAttribute('title')).toContain('(passed)');
    // The results stay while another panel is open.
    await page.getByRole('tab', { name: 'Outline' }).click();
    await page.getByRole('tab', { name: 'Tests' }).click();
    await results.getByRole('status').getByText('2 passed of 2').waitFor();
  });

  browserTest('run one by one from the marks beside the text', async () => {
    const { tenant, bot, mend } = await testedBot();
    const page = await signedIn(tenant.apiKey, studioOf(bot));
    await editorOf(page).waitFor();
    const markOf = (name: string) => page.locator(`.cm-test[title*="${name}"]`);
    const titleOf = (name: string) => markOf(name).getAttribute('title');
    await expect
      .poll(() => titleOf('gives the price'))
      .toBe('Run the test “gives the price” (not run)');
    await markOf('gives the price').click();
    const results = page.getByRole('region', { name: 'Results of the tests' });
    await results.getByRole('status').getByText('1 failed of 1').waitFor();
    await expect.poll(() => titleOf('gives the price')).toContain('(failed)');
    expect(await titleOf('greets')).toContain('(not run)');
    await assertAccessible(page);
    // Another test of the same text keeps the marks; a change of the text removes them.
    await markOf('greets').click();
    await results.getByRole('status').getByText('1 passed of 1').waitFor();
    await expect.poll(() => titleOf('greets')).toContain('(passed)');
    expect(await titleOf('gives the price')).toContain('(failed)');
    await editorOf(page).focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('# Another one.\n');
    await expect.poll(() => titleOf('greets')).toContain('(not run)');
    mend();
    // Without a mouse: the last test before the cursor.
    await page.keyboard.press('Alt+Enter');
    await expect.poll(() => titleOf('gives the price')).toContain('(passed)');
  });
});

describe('recorded runs with the draft of the Studio', () => {
  browserTest('are repeated from the list with its filter, and from one run', async () => {
    const { tenant, bot } = await testedBot();
    const messages = ['Hello', 'What does it cost?'];
    for (const [index, message] of messages.entries())
      await tenant.chat(bot, { message }, { 'x-session-id': `user-${index}` });
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?user=user-1`);
    await page.getByText('What does it cost?').first().waitFor();
    await page.getByRole('button', { name: 'Replay these with the draft' }).click();
    await page.getByText('The last 50 runs with user user-1').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('button', { name: 'Replay these runs' }).click();
    const results = page.getByRole('region', { name: 'Results of the tests' });
    await results.getByRole('status').getByText('1 passed of 1').waitFor();
    await results.getByRole('button', { name: /What does it cost\?/ }).waitFor();
    await page.getByRole('button', { name: 'All runs' }).click();
    await page.getByRole('button', { name: 'Replay the last 50' }).waitFor();
    await results.getByRole('link', { name: 'Recorded run' }).click();
    await page.getByRole('button', { name: 'Copy and more' }).click();
    await page.getByRole('menuitem', { name: 'Replay with the draft' }).click();
    await page.getByRole('button', { name: 'Replay these runs' }).click();
    await results.getByRole('status').getByText('1 passed of 1').waitFor();
  });
});
