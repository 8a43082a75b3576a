import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith, ask, CLOCK, pathOf } from './playground-page.ts';
import { startProxy } from './proxy.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const openTab = (page: Page, name: string) => page.getByRole('tab', { name }).click();

describe('the inspector', () => {
  browserTest('shows the request, the response, the trace, the limits and the code', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 5_000 });
    const bot = await tenant.bot('tools time');
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    let rounds = 0;
    const late = Promise.withResolvers<void>();
    app.upstream.script(async ({ call, say, end }) => {
      rounds += 1;
      if (rounds === 1) return call(CLOCK);
      say('Half ');
      await late.promise;
      say('past ten.');
      end();
    });
    await ask(page, 'What time is it?');
    await page.locator('.turn-reply').getByText('Half').waitFor();

    await page.getByText('"message": "What time is it?"').waitFor();
    await page.getByText('POST /graphql/stream').waitFor();
    await assertAccessible(page);

    await openTab(page, 'Response');
    const frames = page.getByRole('region', { name: 'Frames' });
    await frames.getByRole('button', { name: /^\d+ ms TextDelta .*"delta":"Half "/ }).waitFor();
    await page.getByText(/ B so far$/).waitFor();

    await openTab(page, 'Trace');
    await page.getByText('time.now').last().waitFor();
    await page.getByText('running').first().waitFor();

    late.resolve();
    await page.getByText('Load history').waitFor();
    await page
      .getByRole('button', { name: /^chat scripted/ })
      .first()
      .click();
    await page.getByText('gen_ai.usage.output_tokens').waitFor();
    await assertAccessible(page);

    await openTab(page, 'Response');
    await frames.getByRole('button', { name: /ChatDone/ }).click();
    await frames.getByText('event: next').waitFor();
    await page.getByText(/^\d+ headers$/).click();
    await page.getByText('text/event-stream').waitFor();
    await assertAccessible(page);

    await openTab(page, 'Limits');
    await page.getByText('of 5,000').waitFor();
    await page.getByText(/^The window resets in/).waitFor();
    await assertAccessible(page);
    await openTab(page, 'Code');
    await page.getByText('$PARLEY_API_KEY').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.setViewportSize({ width: 360, height: 780 });
    await page.getByRole('button', { name: 'Back to the conversation' }).click();
    await page.getByRole('button', { name: 'Inspect', exact: true }).click();
    await page.getByText('POST /graphql/stream').waitFor();
  });

  browserTest('sends REST with a key that it creates, masks and revokes', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    // A wrong clock of the browser must not change the key's lifetime.
    await page.clock.setSystemTime(Date.now() - 7_200_000);
    await page.reload();
    await page.getByRole('button', { name: 'REST' }).click();
    await page.getByRole('button', { name: 'Create a key for 1 hour' }).click();
    await page.getByText('may only chat with this bot').waitFor();
    const key = await app.prisma.apiKey.findFirstOrThrow({
      where: { accountId: tenant.accountId, name: 'Playground, 1 hour' },
    });
    expect(key.scopes).toEqual(['CHAT']);
    expect(key.botIds).toEqual([bot]);
    const life = Number(key.expiresAt) - Date.now();
    expect(life).toBeGreaterThan(3_000_000);
    expect(life).toBeLessThanOrEqual(3_601_000);

    answerWith(app, 'By ', 'REST.');
    await ask(page, 'Hi');
    await page.getByText('By REST.').waitFor();
    await page.getByText(`POST /v1/bots/${bot}/chat`).waitFor();
    await page.getByText(/^Bearer parley_sk_\w{4}…$/).waitFor();
    await openTab(page, 'Response');
    await page.getByRole('button', { name: /\{"delta":"By "\}/ }).click();
    await page.getByText('data: {"delta":"By "}').waitFor();
    await page.getByRole('button', { name: /"event":"done"/ }).waitFor();
    await openTab(page, 'Trace');
    await page.getByText('Load history').waitFor();
    await assertAccessible(page);
    await assertFits(page);

    await page.getByRole('button', { name: 'streamed' }).click();
    await page.getByLabel('Reply', { exact: true }).selectOption('Whole');
    answerWith(app, 'All at once.');
    await ask(page, 'Hi again');
    await page.getByText('All at once.').waitFor();
    await openTab(page, 'Response');
    await page.getByText('"response": "All at once."').waitFor();

    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoked the key.').waitFor();
    const { revokedAt } = await app.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } });
    expect(revokedAt).not.toBeNull();

    await page.getByLabel('API key for REST').fill(`parley_sk_${'0'.repeat(49)}`);
    await page.keyboard.press('Enter');
    await ask(page, 'With a wrong key');
    await page.getByRole('alert').getByText('invalid_api_key').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.reload();
    await page.getByRole('button', { name: 'REST' }).click();
    await page.getByRole('button', { name: 'Create a key for 1 hour' }).waitFor();
  });

  browserTest('completes an interrupted REST stream from the events of its run', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const network = await startProxy(app.url);
    atTheEnd(network.close);
    const page = await signedIn(tenant.apiKey, pathOf(bot), network.url);
    await page.getByRole('button', { name: 'REST' }).click();
    await page.getByLabel('API key for REST').fill(tenant.apiKey);
    await page.getByRole('button', { name: 'Use key' }).click();
    app.upstream.script(async ({ say, end, closed }) => {
      say('Text before the failure');
      await closed;
      end();
    });
    await ask(page, 'Hi');
    await page.getByText('Text before the failure').waitFor();
    network.cut();
    network.restore();
    await page.getByText(/^stopped · /).waitFor();
    await page.getByText('Text before the failure').waitFor();
  });
});
