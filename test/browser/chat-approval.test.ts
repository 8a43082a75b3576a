import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { updateBot } from '../channels/web/visitors.ts';
import { assertAccessible } from '../console/page.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';
import { type Site, startSite } from '../helpers/site.ts';

let app: TestApp;
let tenant: Tenant;
let site: Site;
let bot: string;

const LINE = 'A person must approve this. The answer appears here.';

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
  tenant = await app.tenant();
});
afterAll(() => site.close());

beforeEach(async () => {
  site.requests.length = 0;
  site.handle((_request, response) => response.end('Refunded.'));
  bot = await tenant.bot(`channel web { welcome "Hi!" }
  tools orders {
    capability refund "Refunds an order." {
      input { order_id string }
      approval "A refund is paid out at once."
      post "${site.origin}/refunds"
    }
  }`);
  await updateBot(tenant, bot, { visitorSessionsPerHour: 1_000, visitorMessagesPerMinute: 1_000 });
  app.upstream.script(({ request, call, say, end }) => {
    const last = request.body.messages.at(-1);
    if (last?.role === 'user' && last.content === 'Refund it')
      return call(['orders_refund', { order_id: 'A-1' }]);
    if (last?.role === 'tool') say('I asked a person.');
    else if (last?.content.includes('was approved')) say('It is refunded.');
    else say(last?.content.includes('was denied') ? 'It was denied.' : 'Hello.');
    return end();
  });
});

const say = async (page: Page, message: string) => {
  await page.getByLabel('Message').fill(message);
  await page.keyboard.press('Enter');
};

/** The texts of the replies. The page has the last one a second time, for screen readers. */
const replies = (page: Page) => page.locator('.message-reply[aria-busy="false"] p').allInnerTexts();

const open = async () => {
  const page = await openBlankPage({ baseURL: app.url });
  await page.goto(`/chat/${bot}`);
  return page;
};

const decide = async (decision: 'APPROVE' | 'DENY') => {
  const { id } = await app.prisma.approval.findFirstOrThrow({
    where: { botId: bot, status: 'WAITING' },
  });
  const { errors } = await tenant.graphql(
    `mutation ($id: ID!, $decision: ApprovalDecision!) {
      decideApproval(id: $id, decision: $decision) { id } }`,
    { id, decision },
  );
  expect(errors).toBeUndefined();
};

describe('a call that waits for approval, on the chat page', () => {
  browserTest('has a line, and its outcome appears by itself', async () => {
    const page = await open();
    await say(page, 'Hi');
    await expect.poll(() => replies(page)).toEqual(['Hello.']);
    expect(await page.getByText(LINE).count()).toBe(0);
    await say(page, 'Refund it');
    await expect.poll(() => replies(page)).toEqual(['Hello.', 'I asked a person.']);
    await page.getByText(LINE).waitFor();
    await assertAccessible(page);
    await decide('APPROVE');
    const told = ['Hello.', 'I asked a person.', 'It is refunded.'];
    await expect.poll(() => replies(page)).toEqual(told);
    await expect.poll(() => page.getByText(LINE).count()).toBe(0);
    expect(site.requests).toHaveLength(1);
    // No notice of the server is shown.
    expect(await page.getByText('Notice of the server').count()).toBe(0);
    await say(page, 'Hi');
    await expect.poll(() => replies(page)).toEqual([...told, 'Hello.']);
  });

  browserTest('is known after a reload, and in another tab', async () => {
    const page = await open();
    await say(page, 'Refund it');
    await page.getByText(LINE).waitFor();
    await page.reload();
    await expect.poll(() => replies(page)).toEqual(['I asked a person.']);
    await page.getByText(LINE).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`/chat/${bot}`);
    await tab.getByText(LINE).waitFor();
    await decide('DENY');
    for (const one of [page, tab]) {
      await expect.poll(() => replies(one)).toEqual(['I asked a person.', 'It was denied.']);
      await expect.poll(() => one.getByText(LINE).count()).toBe(0);
    }
  });

  browserTest('does not disturb the next message', async () => {
    const page = await open();
    await say(page, 'Refund it');
    await page.getByText(LINE).waitFor();
    await say(page, 'Hi');
    await expect.poll(() => replies(page)).toEqual(['I asked a person.', 'Hello.']);
    await page.getByText(LINE).waitFor();
    await decide('APPROVE');
    await expect
      .poll(() => replies(page))
      .toEqual(['I asked a person.', 'Hello.', 'It is refunded.']);
    await expect
      .poll(() => page.locator('.message-own').allInnerTexts())
      .toEqual(['You:\nRefund it', 'You:\nHi']);
  });
});
