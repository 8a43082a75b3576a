import { beforeAll, expect, test } from 'vitest';
import { addressOf, ROWS, screenAt } from '../../src/console/screen-addresses.ts';
import { SCREENS } from '../../src/console/screens.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

/** Longer than the place for it on a phone. */
const NAME = 'Refunds and returns of the shop';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

test.each([
  ['/bots', 'bots'],
  ['/bots/', 'bots'],
  ['/bots/new', 'newBot'],
  ['/bots/shop/start', 'start'],
  ['/bots/shop/approvals', 'approvals'],
  ['/bots/shop/approvals/tcl_1', 'approvals'],
  ['/bots/shop/deployments', 'deployments'],
  ['/bots/shop/deployments/new', 'deploy'],
  ['/bots/shop/deployments/dep_1/compare/dep_2', 'deploymentComparison'],
  ['/runs/run_1', 'run'],
  ['/runs/run_1/compare/run_2', 'compare'],
  ['/settings', 'settings'],
  ['/settings/keys/new', 'settings'],
  ['/guide/rest', 'guide'],
  ['/bots/shop', 'home'],
  ['/bots/shop/nothing', undefined],
  ['/runs', undefined],
])('the address %s has the screen %s', (address, name) => {
  expect(screenAt(address)?.name).toBe(name);
});

browserTest('every screen has its title, is accessible, and fits into its window', async () => {
  const tenant = await app.tenant();
  const key = await tenant.key({
    scopes: ['CHAT', 'RUNS', 'DEPLOY', 'ADMIN', 'APPROVE', 'OPERATOR'],
  });
  const botId = await tenant.bot();
  await tenant.graphql(
    'mutation ($id: ID!, $name: String!) { updateBot(id: $id, input: { name: $name }) { id } }',
    { id: botId, name: NAME },
  );
  const [run, other] = await makeRuns(app, botId, [{}, {}]);
  const page = await signedIn(key);
  // The title of a bot's first steps is its name, the title of the guide is the name of a page.
  const others = new Map([
    ['start', NAME],
    ['guide', 'First steps'],
    ['newKey', SCREENS.keys.title],
    ['newAccount', SCREENS.accounts.title],
  ]);
  for (const { name, path, title, isPage } of ROWS) {
    if (isPage || name === 'settings') continue;
    const address = addressOf(path, botId)
      .replace(':id', run?.id ?? '')
      .replace(':other', other?.id ?? '');
    await page.goto(address);
    await expect
      .poll(() => page.locator('h1').textContent(), { message: address })
      .toBe(others.get(name) ?? title);
    await expect.poll(() => page.locator('[aria-busy=true]').count(), { message: address }).toBe(0);
    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await assertAccessible(page);
    }
    await assertFits(page);
  }
});
