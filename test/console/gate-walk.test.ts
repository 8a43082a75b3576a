import { beforeAll, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { askToDeploy, confirmIn } from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { editorOf, textOf, write } from './studio-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

browserTest(
  'a newcomer writes a test, sets the gate, breaks the prompt, reads why it is held back, and mends it',
  async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "Greet people."');
    app.upstream.script(({ request, say, end }) => {
      const { content } = request.body.messages[0] ?? {};
      say(content?.includes('Greet') ? 'Hello, and welcome!' : 'I say nothing.');
      end();
    });
    const page = await signedIn(tenant.apiKey, `/bots/${bot}`);
    const goTo = (name: string) =>
      page
        .getByRole('navigation', { name: 'Main' })
        .getByRole('link', { name, exact: true })
        .click();
    const outcome = page.getByRole('region', { name: 'Outcome' });
    const results = page.getByRole('region', { name: 'Results of the tests' });

    await goTo('Evaluations');
    await page.getByRole('link', { name: 'Write a test in the Studio' }).click();
    await page.getByRole('heading', { name: 'No tests yet' }).waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Add a test' }).click();
    await editorOf(page).and(page.locator(':focus')).waitFor();
    await expect
      .poll(() => textOf(page))
      .toContain(
        'test "answers a greeting" {\n    user "Hello"\n    expect reply contains "hello"',
      );
    const tested = await textOf(page);
    await page.getByRole('button', { name: 'Run 1 test' }).click();
    await results.getByRole('status').getByText('1 passed of 1').waitFor();
    const first = await askToDeploy(page);
    await first.getByText('The next request already uses it').waitFor();
    await confirmIn(first).click();
    await outcome.getByText('v2 was deployed to production').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();

    await page.getByRole('link', { name: 'Evaluations and gate' }).click();
    await page.getByRole('button', { name: 'Set up…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('region', { name: 'Gate of production' })
      .getByText('all tests must pass.')
      .waitFor();

    await goTo('Studio');
    await editorOf(page).waitFor();
    await write(page, tested.replace('Greet people.', 'Be silent.'));
    const broken = await askToDeploy(page);
    await broken.getByText('Requests use it once it has passed the gate').waitFor();
    await assertFits(page);
    await confirmIn(broken).click();
    await outcome.getByText('The gate held v3 back, and production is unchanged').waitFor();
    await outcome.getByText(/the test "answers a greeting" failed/).waitFor();
    await assertAccessible(page);
    await outcome.getByRole('link', { name: 'Open its evaluation' }).click();
    await page.getByRole('status').getByText('1 failed of 1').waitFor();
    await page.getByText('I say nothing.').first().waitFor();
    await assertAccessible(page);
    await assertFits(page);

    await page.getByRole('link', { name: 'Edit' }).click();
    await expect.poll(() => textOf(page)).toContain('Be silent.');
    await write(page, tested.replace('Greet people.', 'Greet people kindly.'));
    await page.getByRole('button', { name: 'Run 1 test' }).click();
    await results.getByRole('status').getByText('1 passed of 1').waitFor();
    await confirmIn(await askToDeploy(page)).click();
    await outcome.getByText('v4 was deployed to production').waitFor();
    const { data } = await tenant.graphql(`{ bot(id: "${bot}") { activeDeployment { source } } }`);
    expect(data.bot.activeDeployment.source).toContain('Greet people kindly.');
  },
);
