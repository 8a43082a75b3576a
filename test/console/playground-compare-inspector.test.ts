import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { deploy } from './deployments-page.ts';
import { answerWith, ask, pathOf } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** A bot with one definition in production and another one in staging. */
async function comparedBot(tenant: Tenant): Promise<string> {
  const bot = await tenant.bot('prompt "You are production."');
  const source = agent('prompt "You are staging."');
  await deploy(tenant, bot, { source, environment: 'STAGING' });
  return bot;
}

/** Waits until both replies to each of `count` messages have ended. */
const untilReplied = (page: Page, count: number) =>
  expect
    .poll(() =>
      page
        .getByRole('region', { name: 'Comparison' })
        .getByText('completed', { exact: true })
        .count(),
    )
    .toBe(2 * count);

const inspector = (page: Page) => page.getByRole('complementary', { name: 'Inspector' });

const inspectedSide = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Inspected side' }).getByRole('button', { name });

describe('the inspector of a comparison', () => {
  browserTest('keeps its open tab when an earlier reply is chosen', async () => {
    const tenant = await app.tenant();
    const bot = await comparedBot(tenant);
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?compare=true'));
    answerWith(app, 'Hello.');
    await ask(page, 'The first');
    await untilReplied(page, 1);
    await ask(page, 'The second');
    await untilReplied(page, 2);
    await inspector(page).getByRole('tab', { name: 'Trace' }).click();
    await inspector(page).getByRole('tab', { name: 'Request' }).click();
    await inspector(page).getByText('"The second"').waitFor();
    await page.getByRole('button', { name: 'Inspect' }).first().click();
    await inspector(page).getByText('"The first"').waitFor();
    expect(new URL(page.url()).searchParams.get('tab')).toBe('request');
  });

  browserTest('keeps its side, and follows it to the reply to each new message', async () => {
    const tenant = await app.tenant();
    const bot = await comparedBot(tenant);
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?compare=true&tab=request'));
    await inspectedSide(page, 'Staging v2').click();
    await expect
      .poll(() => inspectedSide(page, 'Staging v2').getAttribute('aria-pressed'))
      .toBe('true');
    answerWith(app, 'Hello.');
    await ask(page, 'The first');
    await untilReplied(page, 1);
    await inspector(page).getByText('"environment": "STAGING"').waitFor();
    await inspector(page).getByText('"The first"').waitFor();
    await page.getByRole('button', { name: 'Inspect' }).first().click();
    await inspector(page).getByText('"environment": "PRODUCTION"').waitFor();
    await page.getByRole('button', { name: 'Inspect' }).last().click();
    await ask(page, 'The second');
    await untilReplied(page, 2);
    await inspector(page).getByText('"The second"').waitFor();
    await inspector(page).getByText('"environment": "STAGING"').waitFor();
  });
});
