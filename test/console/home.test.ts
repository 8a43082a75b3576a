import { beforeAll, describe, expect } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('the home of a bot', () => {
  browserTest('shows what runs, the last day, failures with reasons and addresses', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('channel web');
    const recent = { createdAt: new Date(Date.now() - 60_000), latencyMs: 1_500 };
    const failed = { ...recent, status: 'FAILED', errorCode: 'model_timeout' } as const;
    const [completed, run] = await makeRuns(app, bot, [
      { ...recent, input: 'Refund my order' },
      { ...failed, input: 'Are you there?' },
    ]);
    const call = { id: makeId('tcl'), runId: completed?.id ?? '', position: 0, callId: 'call_0' };
    await app.prisma.toolCall.create({
      data: { ...call, name: 'a.b', digest: 'd', status: 'FAILED', startedAt: new Date() },
    });
    await tenant.graphql(
      'mutation ($id: ID!) { updateBot(id: $id, input: { gate: { tests: true } }) { id } }',
      { id: bot },
    );
    const page = await signedIn(tenant.apiKey);
    await page.getByRole('link', { name: 'Bot', exact: true }).click();
    await expect.poll(() => page.url()).toBe(`${app.url}/bots/${bot}`);
    const main = page.getByRole('navigation', { name: 'Main' });
    await main.getByRole('link', { name: 'Runs', exact: true }).waitFor();
    const production = page.getByRole('region', { name: 'What runs in production' });
    await production.getByRole('link', { name: 'v1' }).waitFor();
    await production.getByText('Web connected').waitFor();
    await page
      .getByRole('region', { name: 'What runs in staging' })
      .getByText('Nothing runs here yet.')
      .waitFor();
    const day = page.getByRole('region', { name: 'The last 24 hours' });
    await day.getByText('50.0 %').waitFor();
    await day.getByText('1.5 s').first().waitFor();
    const failures = page.getByRole('region', { name: 'Latest failures' });
    await failures.getByText('Model timeout').waitFor();
    await failures.getByText('1 tool call failed').waitFor();
    const evaluation = page.getByRole('region', { name: 'Last evaluation' });
    await evaluation.getByText('all tests must pass.').waitFor();
    await evaluation.getByText('No deploy has reached it yet.').waitFor();
    await page.getByText('No tool call waits.').waitFor();
    const addresses = page.getByRole('region', { name: 'Addresses' });
    await addresses.getByRole('link', { name: `${app.url}/chat/${bot}` }).waitFor();
    await addresses.getByText(`${app.url}/v1/bots/${bot}/chat`).waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await failures.getByRole('link', { name: 'Are you there?' }).click();
    await page.waitForURL(`**/runs/${run?.id}?range=24h&status=failed`);
  });

  browserTest('shows a key what its scopes allow, and nothing of another account', async () => {
    const [tenant, other] = [await app.tenant(), await app.tenant()];
    const bot = await tenant.bot();
    const page = await signedIn(await tenant.key({ scopes: ['CHAT'] }), `/bots/${bot}`);
    await page.getByText('Your key lacks the scope runs.').waitFor();
    await page.getByRole('region', { name: 'What runs in production' }).waitFor();
    expect(await page.getByRole('region', { name: 'Latest failures' }).count()).toBe(0);
    await assertAccessible(page);
    const stranger = await signedIn(other.apiKey, `/bots/${bot}`);
    await stranger.getByRole('heading', { name: 'There is no such bot' }).waitFor();
  });
});
