import { beforeAll, describe, expect } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** A bot that runs in both environments, with a run in each. */
async function makeBot() {
  const tenant = await app.tenant();
  const bot = await tenant.bot('prompt "Production."');
  await tenant.graphql(
    'mutation ($id: ID!, $source: String!) { deploy(botId: $id, input: { source: $source, environment: STAGING }) { id } }',
    { id: bot, source: agent('prompt "Staging."') },
  );
  const recent = { createdAt: new Date(Date.now() - 60_000) };
  await makeRuns(app, bot, [
    { ...recent, input: 'In production' },
    { ...recent, input: 'In staging', environment: 'STAGING' },
  ]);
  return { tenant, bot };
}

describe('the switch of the environment', () => {
  browserTest('is obeyed by each screen of the bot, and stays from one to the next', async () => {
    const { tenant, bot } = await makeBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}`);
    const environment = page.getByRole('group', { name: 'Environment', exact: true });
    const chosen = () => environment.locator('[aria-pressed=true]').textContent();
    const main = page.getByRole('navigation', { name: 'Main' });
    const open = (name: string) => main.getByRole('link', { name, exact: true }).click();
    const day = page.getByRole('region', { name: 'The last 24 hours' });
    await day.getByRole('link', { name: '2', exact: true }).waitFor();
    await expect.poll(chosen).toBe('Both');
    await environment.getByRole('button', { name: 'Staging' }).click();
    await day.getByRole('link', { name: '1', exact: true }).click();
    await page.getByRole('link', { name: 'In staging' }).waitFor();
    await expect.poll(chosen).toBe('Staging');
    expect(await page.getByRole('link', { name: 'In production' }).count()).toBe(0);
    await open('Deployments');
    const entries = page.getByRole('list', { name: 'Deployments' }).getByRole('listitem');
    await expect.poll(() => entries.count()).toBe(1);
    await open('Sessions');
    await page.getByRole('heading', { name: 'No sessions in staging yet' }).waitFor();
    await open('Playground');
    await page.getByLabel('Message').waitFor();
    await expect.poll(() => page.url()).toContain('session_id=');
    await expect.poll(chosen).toBe('Staging');
    await open('Studio');
    await page.getByText('Staging.', { exact: false }).first().waitFor();
    await expect.poll(chosen).toBe('Staging');
    await open('Approvals');
    await page.getByRole('heading', { name: 'Nothing waits for you in staging' }).waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'Show decided calls' }).click();
    await page.getByRole('heading', { name: 'No call ever waited in staging' }).waitFor();
    await page.getByRole('link', { name: 'Show both environments' }).click();
    await page.getByRole('heading', { name: 'No call ever waited', exact: true }).waitFor();
    await expect.poll(chosen).toBe('Both');
    await environment.getByRole('button', { name: 'Staging' }).click();
    await open('Evaluations');
    await page.getByRole('heading', { name: 'No evaluation in staging yet' }).waitFor();
    await expect.poll(chosen).toBe('Staging');
    await assertAccessible(page);
    // A screen without the switch.
    await open('Chat page');
    await page.getByRole('heading', { name: 'Chat page', exact: true }).waitFor();
    expect(await environment.count()).toBe(0);
    await open('Runs');
    await expect.poll(chosen).toBe('Staging');
    await environment.getByRole('button', { name: 'Both' }).click();
    await page.getByRole('link', { name: 'In production' }).waitFor();
    await environment.getByRole('button', { name: 'Production' }).click();
    await open('Sessions');
    await open('Runs');
    await expect.poll(chosen).toBe('Production');
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('selects none in a comparison of the playground, and ends it', async () => {
    const { tenant, bot } = await makeBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/playground?compare=true`);
    const environment = page.getByRole('group', { name: 'Environment', exact: true });
    const chosen = environment.locator('[aria-pressed=true]');
    const side = page.getByLabel('Left side');
    await side.waitFor();
    expect(await chosen.count()).toBe(0);
    await environment.getByRole('button', { name: 'Staging' }).click();
    await side.waitFor({ state: 'detached' });
    await expect.poll(() => chosen.textContent()).toBe('Staging');
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('environment'), searchParams.get('compare')]).toEqual([
      'staging',
      null,
    ]);
    const compare = page.getByRole('button', { name: 'Compare' });
    await compare.click();
    await side.waitFor();
    await compare.click();
    await expect.poll(() => chosen.textContent()).toBe('Staging');
  });

  browserTest('selects where a pasted definition is deployed', async () => {
    const { tenant, bot } = await makeBot();
    const address = `/bots/${bot}/deployments/new?environment=staging`;
    const page = await signedIn(tenant.apiKey, address);
    const environment = page.getByRole('group', { name: 'Environment', exact: true });
    await page.getByText('which runs in staging').waitFor();
    await environment.getByRole('button', { name: 'Production' }).click();
    await page.getByText('which runs in production').waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });
});

describe('the breadcrumb', () => {
  browserTest('leads back to the list, and names the bot', async () => {
    const { tenant, bot } = await makeBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?environment=staging`);
    await page.getByRole('link', { name: 'In staging' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Run', exact: true }).waitFor();
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' });
    await crumbs.getByRole('button', { name: /^Bot / }).waitFor();
    await expect.poll(() => crumbs.locator('[aria-current=page]').textContent()).toBe('Run');
    await crumbs.getByRole('link', { name: 'Runs' }).click();
    await expect.poll(() => page.url()).toBe(`${app.url}/bots/${bot}/runs?environment=staging`);
  });

  browserTest('opens the same screen of another bot by keyboard alone', async () => {
    const { tenant, bot } = await makeBot();
    const other = makeId('bot');
    await tenant.graphql(
      'mutation ($id: ID!) { createBot(input: { id: $id, name: "Night desk" }) { id } }',
      { id: other },
    );
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions?environment=staging`);
    const switcher = page.getByRole('button', { name: /^Bot / });
    await switcher.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Choose a bot' });
    const field = dialog.getByRole('searchbox', { name: 'Find a bot' });
    await field.and(page.locator(':focus')).waitFor();
    await assertAccessible(page);
    await field.fill('no such bot');
    await dialog.getByText('No bot has this name or id.').waitFor();
    await field.fill('night');
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(1);
    const found = dialog.getByRole('link', { name: /Night desk/ });
    await found.waitFor();
    // The answer of the server may replace the link that has the focus.
    await expect
      .poll(async () => {
        await field.focus();
        await page.keyboard.press('ArrowDown');
        return found.and(page.locator(':focus')).count();
      })
      .toBe(1);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await expect
      .poll(() => page.url())
      .toBe(`${app.url}/bots/${other}/sessions?environment=staging`);
    await page.getByRole('button', { name: 'Bot Night desk' }).waitFor();
    await page.setViewportSize({ width: 360, height: 780 });
    await page.getByRole('button', { name: 'Bot Night desk' }).waitFor();
    await assertFits(page);
  });
});
