import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { addressOf, deploy, saying } from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('the comparison of two deployments', () => {
  browserTest('begins with two selected ones, by keyboard alone, and has an address', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const first = await deploy(tenant, bot, {
      source: saying('One.'),
      envVars: [{ name: 'TOKEN', value: 'never-shown-4711' }],
    });
    await deploy(tenant, bot, { source: saying('Two.') });
    const third = await deploy(tenant, bot, { source: saying('Three.'), environment: 'STAGING' });
    const page = await signedIn(tenant.apiKey, addressOf(bot));
    await page.getByRole('checkbox', { name: 'Compare v1' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('v1 is selected. Select the deployment to compare it with.').waitFor();
    await page.reload();
    await expect
      .poll(() => page.getByRole('checkbox', { name: 'Compare v1' }).isChecked())
      .toBe(true);
    await page.getByRole('checkbox', { name: 'Compare v2' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('checkbox', { name: 'Compare v2' }).press('Space');
    await page.getByRole('checkbox', { name: 'Compare v3' }).press('Space');
    await page.getByText('v1 and v3 are selected.').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('link', { name: 'Compare', exact: true }).press('Enter');
    await expect
      .poll(() => page.url())
      .toBe(`${app.url}${addressOf(bot, `/${first}/compare/${third}`)}`);
    const definition = page.getByRole('region', { name: 'Definition: difference' });
    await definition.getByText('1 line added, 1 removed').waitFor();
    await expect.poll(() => definition.locator('ins').allTextContents()).toEqual(['Three']);
    const variables = page.getByRole('region', { name: 'Variables' });
    await expect
      .poll(() => variables.getByRole('listitem').allTextContents())
      .toEqual(['−TOKENremoved']);
    const facts = page.getByRole('table', { name: 'Facts of both deployments' });
    await expect
      .poll(() => facts.getByRole('row', { name: /^Environment/ }).textContent())
      .toBe('Environmentproductionstagingdiffers');
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('link', { name: 'Swap' }).click();
    await expect.poll(() => definition.locator('ins').allTextContents()).toEqual(['One']);
    expect(await page.content()).not.toContain('never-shown-4711');
  });

  browserTest('begins in the menu of a deployment', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const first = await deploy(tenant, bot, { source: saying('One.') });
    const second = await deploy(tenant, bot, { source: saying('Two.') });
    const third = await deploy(tenant, bot, { source: saying('Three.') });
    const page = await signedIn(tenant.apiKey, addressOf(bot, `/${second}`));
    const open = () => page.getByRole('button', { name: 'Compare', exact: true }).click();
    await open();
    await page.getByRole('menuitem', { name: 'Compare with v3, active in production' }).click();
    await expect
      .poll(() => page.url())
      .toBe(`${app.url}${addressOf(bot, `/${second}/compare/${third}`)}`);
    await page.goBack();
    await open();
    await page.getByRole('menuitem', { name: 'Compare with v1, the one before' }).click();
    await expect
      .poll(() => page.url())
      .toBe(`${app.url}${addressOf(bot, `/${first}/compare/${second}`)}`);
    await page.goBack();
    await open();
    await page.getByRole('menuitem', { name: 'Compare with…' }).click();
    await page.getByText('v2 is selected.').waitFor();
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    await expect.poll(() => page.url()).toBe(`${app.url}${addressOf(bot)}`);
  });

  browserTest('says which deployment a rollback restored', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const first = await deploy(tenant, bot, { source: saying('One.') });
    await deploy(tenant, bot, { source: saying('Two.') });
    await tenant.graphql(`mutation { rollback(botId: "${bot}", deploymentId: "${first}") { id } }`);
    const page = await signedIn(tenant.apiKey, addressOf(bot));
    const entry = page.getByRole('button', { name: /^v1 / });
    await expect.poll(() => entry.textContent()).toMatch(/superseded.*rolled back to by v3/);
  });

  browserTest('of an unknown or a foreign deployment leads back to the list', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const { id } = await app.prisma.deployment.findFirstOrThrow({ where: { botId: bot } });
    const other = await tenant.bot();
    const foreign = await app.prisma.deployment.findFirstOrThrow({ where: { botId: other } });
    const page = await signedIn(tenant.apiKey, addressOf(bot, `/${id}/compare/dep_nothing`));
    await page.getByRole('heading', { name: 'This bot has no such deployment' }).waitFor();
    await page.getByText('dep_nothing').waitFor();
    await assertAccessible(page);
    await page.goto(addressOf(bot, `/${foreign.id}/compare/${id}`));
    await page.getByText(foreign.id).waitFor();
    await page.goto(addressOf(bot, `/${id}/compare/${id}`));
    await page.getByText('Both are the same deployment.').waitFor();
    await page.getByRole('link', { name: 'Choose another one' }).click();
    await page.getByText('v1 is selected.').waitFor();
  });

  browserTest('shows no definition to a key without the scope', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const first = await deploy(tenant, bot, { source: saying('One.') });
    const second = await deploy(tenant, bot, { source: saying('Two.') });
    const key = await tenant.key({ scopes: ['RUNS'] });
    const page = await signedIn(key, addressOf(bot, `/${first}/compare/${second}`));
    await page.getByText('Your key lacks the scope deploy.').waitFor();
    expect(await page.content()).not.toContain('One.');
  });
});
