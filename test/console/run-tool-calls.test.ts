import { afterAll, beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { answerAsShop, type Shop, startShop } from './asking-bot.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
let shop: Shop;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  shop = await startShop(() => app);
  app = await startApp({ allowedHosts: [shop.site.host] });
});
afterAll(() => shop.site.close());

describe('the tool calls of a run', () => {
  browserTest(
    'show input, request and result, the first failure at first, by keyboard too',
    async () => {
      const tenant = await app.tenant();
      const bot = await shop.bot(tenant);
      shop.site.handle(({ url }, response) => {
        response.statusCode = url.includes('A-404') ? 404 : 200;
        response.end(response.statusCode === 404 ? 'There is no such order.' : '{"state":"sent"}');
      });
      app.upstream.script(({ request, call, say, end }) => {
        if (request.body.messages.at(-1)?.role === 'tool') {
          say('Found one of two.');
          return end();
        }
        return call(
          ['orders_lookup', { order_id: 'A-1' }],
          ['orders_lookup', { order_id: 'A-404' }],
        );
      });
      const id = await shop.ask(tenant, bot);
      const page = await signedIn(tenant.apiKey, `/runs/${id}`);
      const step = page.getByRole('region', { name: 'Selected step' });
      // The first failure is selected, in a run that completed.
      await step.getByText('failed', { exact: true }).waitFor();
      await step.getByText('HTTP 404').first().waitFor();
      await step.getByText(`${shop.site.origin}/orders?order_id=A-404`).waitFor();
      await step.getByRole('heading', { name: 'Error' }).waitFor();
      await step.getByText('There is no such order.').waitFor();
      await page.getByRole('button', { name: /^orders.lookup 404/ }).waitFor();
      await page.getByText('1 tool call failed').waitFor();
      await assertAccessible(page);
      await assertFits(page);
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.keyboard.press('ArrowUp');
      await step.getByText('completed', { exact: true }).waitFor();
      await step.getByText(`${shop.site.origin}/orders?order_id=A-1`).waitFor();
      await step.getByText('"state": "sent"').waitFor();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.keyboard.press('c');
      await page.getByText('Copied the output of the step.').waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('{"state":"sent"}');
      await page.keyboard.press('Enter');
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
        .toBe('Selected step');
      // The model was sent the message, by part, and asked for both calls.
      await page.keyboard.press('ArrowUp');
      await step.getByRole('heading', { name: 'Model call 1' }).waitFor();
      await step.getByRole('region', { name: 'Message in the prompt' }).waitFor();
      const output = step.getByRole('region', { name: 'Output' });
      await output.getByText('{"order_id":"A-404"}').waitFor();
      await assertAccessible(page);
      await page.goto(`/runs/${id}?tab=events`);
      const events = page.getByRole('group', { name: 'Events' });
      await events.getByText(/orders.lookup failed after/).waitFor();
    },
  );

  browserTest('say in words that a call is denied, unknown, expired or refused', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{}]);
    const statuses = ['DENIED', 'UNKNOWN', 'EXPIRED', 'REFUSED', 'COMPLETED'] as const;
    await app.prisma.toolCall.createMany({
      data: statuses.map((status, position) => ({
        id: `tcl_${run?.id.slice(4)}${position}`,
        runId: run?.id ?? '',
        position,
        callId: `call_${position}`,
        name: 'orders.refund',
        digest: '',
        status,
        startedAt: new Date(),
        // The texts of the last one are deleted.
        ...(status !== 'COMPLETED' && { arguments: '{"order_id":"A-1"}' }),
      })),
    });
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
    const steps = page.getByRole('list', { name: /^Trace of/ }).getByRole('listitem');
    const step = page.getByRole('region', { name: 'Selected step' });
    await step.getByText('refused', { exact: true }).waitFor();
    for (const [at, word] of ['denied', 'outcome unknown', 'expired', 'refused'].entries())
      await steps.nth(at).getByText(word, { exact: true }).waitFor();
    await steps.nth(1).getByRole('button').click();
    await step.getByText(/no response arrived/).waitFor();
    await steps.nth(4).getByRole('button').click();
    await step.getByText('are no longer stored').waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('that were decided lead to the run with the outcome, and back', async () => {
    const tenant = await app.tenant();
    const bot = await shop.bot(tenant);
    answerAsShop(app);
    const id = await shop.ask(tenant, bot);
    const page = await signedIn(tenant.apiKey, `/runs/${id}`);
    const calls = page.getByRole('region', { name: 'Selected step' });
    await calls.getByText('waiting for approval').waitFor();
    await calls.getByRole('link', { name: 'Decide in Approvals' }).waitFor();
    const [approval] = await shop.waiting(bot);
    const decide = 'mutation ($id: ID!) { decideApproval(id: $id, decision: DENY) { id } }';
    expect((await tenant.graphql(decide, { id: approval })).errors).toBeUndefined();
    const followUp = () =>
      app.prisma.run.findFirst({ where: { causedById: id, status: 'COMPLETED' } });
    await expect.poll(followUp).not.toBeNull();
    const next = await followUp();
    await page.goto(`/runs/${next?.id}`);
    await page.getByRole('region', { name: 'Notice of the server' }).waitFor();
    await page.getByText('The server began this run after the decision').waitFor();
    await page.getByTitle('No user sent the message of this run.').first().waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'Requesting run' }).click();
    await expect.poll(() => page.url()).toContain(`/runs/${id}`);
    await calls.getByText('denied', { exact: true }).waitFor();
  });
});
