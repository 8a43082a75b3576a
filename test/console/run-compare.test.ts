import { beforeAll, describe, expect } from 'vitest';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** Two runs with the same message and different replies, by two deployments. */
async function twoRuns() {
  const tenant = await app.tenant();
  const bot = await tenant.bot('prompt "You are kind."');
  const ask = async (reply: string, plan: string) => {
    answerWith(app, reply);
    const body = { message: 'Where is my lamp?', context: { plan } };
    return (await tenant.chat(bot, body)).headers.get('x-run-id') ?? '';
  };
  const first = await ask('It is on its way.', 'free');
  await tenant.graphql(
    'mutation ($bot: ID!, $source: String!) { deploy(botId: $bot, input: { source: $source }) { id } }',
    { bot, source: agent('prompt "You are brief."') },
  );
  const second = await ask('It is lost.', 'pro');
  return { tenant, bot, first, second };
}

describe('the comparison of two runs', () => {
  browserTest('is chosen in the list by keyboard, and shows the differences', async () => {
    const { tenant, bot, first, second } = await twoRuns();
    const page = await signedIn(tenant.apiKey, `/runs/${first}`);
    await page.getByRole('button', { name: 'Copy and more' }).click();
    await page.getByRole('menuitem', { name: 'Compare with…' }).click();
    await page.getByText('Choose the run to compare with').waitFor();
    await expect.poll(() => page.url()).toBe(`${app.url}/bots/${bot}/runs?compare=${first}`);
    await assertAccessible(page);
    await assertFits(page);
    await page.locator('.run-link').first().focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toBe(`${app.url}/runs/${first}/compare/${second}`);
    const fact = (name: string) => page.getByRole('row').filter({ hasText: name });
    await fact('Deployment').getByText('differs').waitFor();
    await fact('Model').getByText('same').waitFor();
    await page.getByRole('region', { name: 'Asked, the same in both' }).waitFor();
    const reply = page.getByRole('region', { name: 'Replied: difference' });
    await reply.getByText('1 line added, 1 removed').waitFor();
    const definition = page.getByRole('region', { name: 'Definition: difference' });
    await definition.getByText('1 line added, 1 removed').waitFor();
    const axes = page.locator('.span-axis');
    await expect.poll(() => axes.count()).toBe(2);
    await expect.poll(async () => new Set(await axes.allTextContents()).size).toBe(1);
    await assertAccessible(page);
    await assertFits(page);
    const trace = page.getByRole('region', { name: 'Trace of the second run' });
    await trace.getByRole('button', { name: /^Model call 1/ }).click();
    await trace.getByText('Tokens in').waitFor();
    await page.reload();
    await trace.getByText('Tokens in').waitFor();
    await page.getByRole('link', { name: 'Swap' }).click();
    await expect.poll(() => page.url()).toBe(`${app.url}/runs/${second}/compare/${first}`);
    await reply.getByText('1 line added, 1 removed').waitFor();
  });

  browserTest(
    'hides the definitions from a key without the scope, and takes long replies',
    async () => {
      const { tenant, bot, first, second } = await twoRuns();
      const line = 'A line of a very long reply.\n';
      const response = `${line.repeat(179_999)}The last line. ${'A sentence of it. '.repeat(9_999)}`;
      const [long, longer] = await makeRuns(app, bot, [
        { input: 'Other', response },
        { input: 'Other', response: response.replace('The last line', 'A different line') },
      ]);
      const reader = await tenant.key({ scopes: ['RUNS'] });
      const page = await signedIn(reader, `/runs/${first}/compare/${long?.id}`);
      const reply = page.getByRole('region', { name: 'Replied: difference' });
      await reply.getByText('189,999 lines added, 1 removed').waitFor();
      await reply.getByRole('button', { name: 'Show 189,699 more lines' }).click();
      await reply.getByRole('button', { name: 'Show 189,399 more lines' }).waitFor();
      await page.getByText('A run without a deployment has no stored definition.').waitFor();
      await assertFits(page);
      await page.goto(`/runs/${long?.id}/compare/${longer?.id}`);
      await reply.getByText('1 line added, 1 removed').waitFor();
      await reply.getByText('The last line.').waitFor();
      await expect.poll(() => reply.getByRole('row').count()).toBeLessThan(20);
      await assertFits(page);
      await page.goto(`/runs/${first}/compare/${second}`);
      await page.getByText('Two deployments answered. Your key lacks the scope deploy.').waitFor();
      expect(await page.content()).not.toContain('You are kind');
    },
  );

  browserTest('says which run is missing, and that both are the same', async () => {
    const { tenant, first } = await twoRuns();
    const page = await signedIn(
      tenant.apiKey,
      `/runs/${first}/compare/run_00000000000000000000000000`,
    );
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
    await page.getByText('run_00000000000000000000000000').waitFor();
    await assertAccessible(page);
    await page.goto(`/runs/${first}/compare/${first}`);
    await page.getByText('Both are the same run.').waitFor();
    await page.getByText('The same deployment answered both.').waitFor();
    await assertAccessible(page);
    const other = await app.tenant();
    const stranger = await signedIn(other.apiKey, `/runs/${first}/compare/${first}`);
    await stranger.getByRole('heading', { name: 'There is no such run' }).waitFor();
    expect(await stranger.content()).not.toContain('lamp');
  });
});
