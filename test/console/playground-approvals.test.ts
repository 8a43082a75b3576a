import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { answerAsShop, type Shop, shopTools, startShop } from './asking-bot.ts';
import { deploy } from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { ask } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
let shop: Shop;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  shop = await startShop(() => app);
  app = await startApp({ allowedHosts: [shop.site.host] });
});
beforeEach(() => {
  shop.site.requests.length = 0;
});
afterAll(() => shop.site.close());

describe('a call that waits for approval', () => {
  browserTest('is decided in the playground, where the outcome appears by itself', async () => {
    shop.site.handle((_request, response) => response.end('Refunded.'));
    const tenant = await app.tenant();
    const bot = await shop.bot(tenant);
    answerAsShop(app);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/playground`);
    await page.getByLabel('Message').fill('I want my money back.');
    await page.keyboard.press('Enter');
    const talk = page.getByRole('region', { name: 'Conversation' });
    await talk.getByText('orders.refund waiting for approval').waitFor();
    const call = talk.getByRole('listitem', { name: 'orders.refund waits for approval' });
    await call.getByText(`POST ${shop.site.origin}/refunds`).waitFor();
    await call.getByText('A refund is paid out at once.').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await call.getByRole('button', { name: 'Approve' }).click();
    await talk.getByText('The refund is paid out.').waitFor();
    await call.waitFor({ state: 'detached' });
    // The message of this visit stands once, before the notice.
    await talk.getByText('Notice of the server').waitFor();
    const texts = (await talk.textContent()) ?? '';
    expect(texts.split('I want my money back.')).toHaveLength(2);
    expect(texts.indexOf('I want my money back.')).toBeLessThan(texts.indexOf('Notice of'));
    await talk.getByText('orders.refund waiting for approval').waitFor({ state: 'detached' });
    await assertAccessible(page);
    expect(shop.site.requests).toHaveLength(1);
  });

  browserTest('is decided in a comparison, where the outcome appears on its side', async () => {
    shop.site.handle((_request, response) => response.end('Refunded.'));
    const tenant = await app.tenant();
    const bot = await shop.bot(tenant);
    const source = agent(shopTools(shop.site.origin));
    await deploy(tenant, bot, { source, environment: 'STAGING' });
    answerAsShop(app);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/playground?compare=true`);
    await ask(page, 'I want my money back.');
    const talk = page.getByRole('region', { name: 'Comparison' });
    const waiting = talk.getByRole('listitem', { name: /orders.refund waits for approval/ });
    await expect.poll(() => waiting.count()).toBe(2);
    await assertAccessible(page);
    const left = talk.getByRole('listitem', { name: /^Production v1: orders.refund waits/ });
    await left.getByRole('button', { name: 'Approve' }).click();
    await talk.getByText('The refund is paid out.').waitFor();
    await talk.getByText('Notice of the server').waitFor();
    const right = talk.getByRole('listitem', { name: /^Staging v2: orders.refund waits/ });
    await right.getByRole('button', { name: 'Deny' }).click();
    await talk.getByText('The refund was declined.').waitFor();
    await expect.poll(() => waiting.count()).toBe(0);
    await talk.getByText('orders.refund waiting for approval').waitFor({ state: 'detached' });
    expect((await talk.textContent())?.split('I want my money back.')).toHaveLength(2);
    await assertAccessible(page);
  });

  browserTest('shows no buttons to a key that may not decide', async () => {
    const tenant = await app.tenant();
    const bot = await shop.bot(tenant);
    answerAsShop(app);
    const key = await tenant.key({ scopes: ['CHAT'] });
    const page = await signedIn(key, `/bots/${bot}/playground`);
    await page.getByLabel('Message').fill('Refund it.');
    await page.keyboard.press('Enter');
    await page.getByText('A person decides about the refund.').waitFor();
    await page.getByText('orders.refund waiting for approval').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  });

  browserTest('shows its input, its state and the notice in the session', async () => {
    const tenant = await app.tenant();
    const bot = await shop.bot(tenant);
    answerAsShop(app);
    await shop.ask(tenant, bot);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions?user=ada`);
    const talk = page.getByRole('region', { name: 'Conversation with ada' });
    const call = talk.locator('summary', { hasText: 'orders.refund' });
    await call.getByText('waiting for approval').waitFor();
    await call.click();
    await talk
      .getByRole('group', { name: 'Input of orders.refund' })
      .getByText('"amount": 120')
      .waitFor();
    await talk.getByRole('group', { name: 'Result of orders.refund' }).waitFor();
    await talk.getByRole('button', { name: 'Deny' }).click();
    await talk.getByText('The refund was declined.').waitFor();
    await talk.getByText(/^Notice of the server.* was denied by a person/).waitFor();
    await call.getByText('denied').waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('that failed says so in the session, not by its colour alone', async () => {
    shop.site.handle((_request, response) => {
      response.statusCode = 500;
      response.end('The warehouse is closed.');
    });
    const tenant = await app.tenant();
    const bot = await shop.bot(tenant);
    app.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role !== 'tool')
        return call(['orders_lookup', { order_id: 'A-1' }]);
      say('I could not look.');
      return end();
    });
    await shop.ask(tenant, bot);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions?user=ada`);
    const call = page.locator('summary', { hasText: 'orders.lookup' });
    await call.getByText('failed').waitFor();
    await call.click();
    await page.getByText('Error', { exact: true }).waitFor();
    await assertAccessible(page);
  });
});
