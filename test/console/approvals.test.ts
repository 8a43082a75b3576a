import { afterAll, beforeAll, describe, expect } from 'vitest';
import {
  Approval,
  DecideApproval,
  WaitingApprovals,
} from '../../src/generated/operations/console.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { decide } from '../helpers/approvals.ts';
import { browserTest } from '../helpers/browser.ts';
import { answerAsShop, type Shop, startShop } from './asking-bot.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
let shop: Shop;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  shop = await startShop(() => app);
  app = await startApp({ allowedHosts: [shop.site.host] });
  shop.site.handle((_request, response) => response.end('Refunded.'));
});
afterAll(() => shop.site.close());

/** A bot with a waiting call of each user, the last one newest. */
const waitingBot = async (users: string[] = ['ada'], more = '') => {
  const tenant = await app.tenant();
  const bot = await shop.bot(tenant, more);
  answerAsShop(app);
  for (const user of users) await shop.ask(tenant, bot, user);
  return { tenant, bot };
};

const approvalOf = (id: string | undefined) =>
  app.prisma.approval.findUniqueOrThrow({ where: { id: id ?? '' } });

describe('the inbox of approvals', () => {
  browserTest(
    'approves by keyboard, and shows the result and the run with the outcome',
    async () => {
      const { tenant, bot } = await waitingBot(['ada', 'bob']);
      const [bob, ada] = await shop.waiting(bot);
      const page = await signedIn(tenant.apiKey, `/bots/${bot}/playground`);
      const entry = page
        .getByRole('navigation', { name: 'Main' })
        .getByRole('link', { name: 'Approvals' });
      await expect.poll(() => entry.textContent()).toBe('Approvals2 waiting');
      await entry.click();
      const rows = page.getByRole('list', { name: 'Approvals' }).getByRole('link');
      await expect.poll(() => rows.count()).toBe(2);
      await page.getByText('A approve').waitFor();
      await assertAccessible(page);
      // Nothing is open yet, so the key decides nothing.
      await page.keyboard.press('a');
      await page.keyboard.press('j');
      const panel = page.getByRole('region', { name: 'Open approval' });
      await panel.getByText(/^asked .* for bob ·/).waitFor();
      await page.keyboard.press('j');
      await panel.getByText(/^asked .* for ada ·/).waitFor();
      await rows.nth(1).and(page.locator(':focus')).waitFor();
      await expect.poll(() => page.url()).toBe(`${app.url}/bots/${bot}/approvals/${ada}`);
      await panel.getByText('A refund is paid out at once.').waitFor();
      const request = panel.getByRole('region', { name: 'Request' });
      await request.getByText(`POST ${shop.site.origin}/refunds`).waitFor();
      await request.getByText('"amount": 120').waitFor();
      await panel
        .getByRole('region', { name: 'Conversation' })
        .getByText('Refund A-1 for ada.')
        .waitFor();
      await assertAccessible(page);
      await assertFits(page);
      // A letter in a field is text.
      await panel.getByLabel('Note').fill('');
      await panel.getByLabel('Note').press('a');
      expect(await panel.getByLabel('Note').inputValue()).toBe('a');
      await rows.nth(1).focus();
      await page.keyboard.press('a');
      await panel.getByRole('status').getByText('approved').waitFor();
      await panel.getByText('Refunded.', { exact: true }).waitFor();
      await panel.getByRole('link', { name: 'Follow-up run' }).waitFor();
      await assertAccessible(page);
      await assertFits(page);
      expect(await approvalOf(ada)).toMatchObject({ status: 'APPROVED', note: 'a' });
      expect((await approvalOf(bob)).status).toBe('WAITING');
      await expect.poll(() => entry.textContent()).toBe('Approvals1 waiting');
      await page.keyboard.press('k');
      await panel.getByText(/^asked .* for bob ·/).waitFor();
      await panel.getByRole('button', { name: 'Deny' }).waitFor();
    },
  );

  browserTest('is counted in the navigation for the environment of the switch', async () => {
    const { tenant, bot } = await waitingBot();
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?environment=staging`);
    const entry = page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Approvals' });
    const environment = page.getByRole('group', { name: 'Environment', exact: true });
    const answered = page.waitForResponse((response) =>
      (response.request().postData() ?? '').includes(WaitingApprovals.documentId),
    );
    await page.reload();
    await answered;
    await expect.poll(() => entry.textContent()).toBe('Approvals');
    await environment.getByRole('button', { name: 'Production' }).click();
    await expect.poll(() => entry.textContent()).toBe('Approvals1 waiting');
    await environment.getByRole('button', { name: 'Staging' }).click();
    await expect.poll(() => entry.textContent()).toBe('Approvals');
    await environment.getByRole('button', { name: 'Both' }).click();
    await expect.poll(() => entry.textContent()).toBe('Approvals1 waiting');
  });

  browserTest('denies with a note, and keeps what was decided readable', async () => {
    const { tenant, bot } = await waitingBot();
    const [id] = await shop.waiting(bot);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/approvals/${id}`);
    const panel = page.getByRole('region', { name: 'Open approval' });
    await panel.getByLabel('Note').fill('No photo was sent.');
    await panel.getByRole('button', { name: 'Deny' }).click();
    await panel.getByRole('status').getByText('denied').waitFor();
    // The button that had the focus is gone.
    await panel
      .getByRole('heading', { name: 'orders.refund' })
      .and(page.locator(':focus'))
      .waitFor();
    await panel.getByText('“No photo was sent.”').waitFor();
    await panel.getByText(/\(this key\)/).waitFor();
    await panel.getByRole('link', { name: 'Follow-up run' }).click();
    await page.getByText('The refund was declined.').first().waitFor();
    await page.goto(`/bots/${bot}/approvals?status=denied`);
    await page.getByRole('list', { name: 'Approvals' }).getByText('denied').waitFor();
    await page.getByRole('button', { name: 'Waiting' }).click();
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('changes arguments in a form that checks them', async () => {
    const { tenant, bot } = await waitingBot();
    const [id] = await shop.waiting(bot);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/approvals/${id}`);
    const panel = page.getByRole('region', { name: 'Open approval' });
    const approve = panel.getByRole('button', { name: /^Approve/ });
    await panel.getByLabel('amount').fill('much');
    await panel.getByText('Type a number, such as 12.5.').waitFor();
    await expect.poll(() => approve.getAttribute('title')).toBe('Correct the arguments first.');
    await panel.getByLabel('amount').fill('84.5');
    await panel.getByText('was 120').waitFor();
    await panel.getByLabel('reason').selectOption('late');
    await panel.getByLabel('notify').selectOption('true');
    const preview = panel.getByRole('region', { name: 'Request with the changes' });
    await preview.getByText('"amount": 84.5').waitFor();
    await assertAccessible(page);
    await panel.getByRole('button', { name: 'Approve with changes' }).click();
    await panel.getByText('Arguments of the model, before the change').waitFor();
    const { editedArguments, arguments: given } = await approvalOf(id);
    expect(JSON.parse(editedArguments ?? '')).toEqual({
      order_id: 'A-1',
      amount: 84.5,
      reason: 'late',
      notify: true,
    });
    expect(JSON.parse(given ?? '')).toMatchObject({ amount: 120 });
    await assertAccessible(page);
  });

  browserTest(
    'shows in place that a call was decided elsewhere, or that its tool is gone',
    async () => {
      const { tenant, bot } = await waitingBot(['ada', 'bob']);
      const [bob, ada] = await shop.waiting(bot);
      const page = await signedIn(tenant.apiKey, `/bots/${bot}/approvals/${bob}`);
      const panel = page.getByRole('region', { name: 'Open approval' });
      await panel.getByRole('button', { name: /^Approve/ }).waitFor();
      const decide = `mutation ($id: ID!) { decideApproval(id: $id, decision: DENY, note: "By phone.") { id } }`;
      expect((await tenant.graphql(decide, { id: bob })).errors).toBeUndefined();
      // It is live: nobody reloads.
      await panel.getByText('“By phone.”').waitFor();
      const deploy =
        'mutation ($bot: ID!, $source: String!) { deploy(botId: $bot, input: { source: $source }) { status } }';
      await tenant.graphql(deploy, {
        bot,
        source: 'agentlang 5\nagent "T" { prompt "No tools." }',
      });
      await page.goto(`/bots/${bot}/approvals/${ada}`);
      await panel.getByRole('button', { name: /^Approve/ }).click();
      await panel.getByRole('alert').getByText('tool_gone').waitFor();
      await panel.getByText('You can still deny the call.').waitFor();
      await assertAccessible(page);
      // A tool without a declaration, as of an MCP server, has one field for all arguments.
      await app.prisma.approval.update({
        where: { id: ada ?? '' },
        data: { name: 'github.create_issue' },
      });
      await page.reload();
      await panel.getByLabel('Arguments as JSON').fill('{');
      await panel.getByText('This is not valid JSON.').waitFor();
      await panel.getByRole('button', { name: 'Deny' }).click();
      await panel.getByRole('status').getByText('denied').waitFor();
    },
  );

  browserTest('says that another person was faster', async () => {
    const { tenant, bot } = await waitingBot();
    const [id] = await shop.waiting(bot);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/approvals/${id}`);
    const panel = page.getByRole('region', { name: 'Open approval' });
    await panel.getByRole('button', { name: /^Approve/ }).waitFor();
    // The other person decides after this decision has left the page. The page reads the call again once the test has seen
    // the refusal. An approval that has expired would not do: the server ends it within a second.
    const seen = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      const body = route.request().postData() ?? '';
      if (body.includes(DecideApproval.documentId)) await decide(app, tenant, id ?? '', 'DENY');
      else if (body.includes(Approval.documentId)) await seen.promise;
      await route.continue();
    });
    await panel.getByRole('button', { name: /^Approve/ }).click();
    await panel.getByRole('alert').getByText('already_decided').waitFor();
    seen.resolve();
    await panel.getByRole('status').getByText('denied').waitFor();
    await page.unroute('**/graphql');
  });

  browserTest('pages, follows new calls, and names a wrong filter', async () => {
    const { tenant, bot } = await waitingBot();
    const [first] = await shop.waiting(bot);
    const row = await approvalOf(first);
    const call = await app.prisma.toolCall.findUniqueOrThrow({ where: { id: first ?? '' } });
    const { arguments: text, name, ...asked } = row;
    const ids = Array.from({ length: 40 }, (_, at) => `tcl_${String(at).padStart(26, '0')}`);
    await app.prisma.toolCall.createMany({
      data: ids.map((id, at) => ({ ...call, id, position: at + 1, request: {} })),
    });
    await app.prisma.approval.createMany({
      data: ids.map((id) => ({ ...asked, name, arguments: text, id, request: {}, values: {} })),
    });
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/approvals?status=mars`);
    await page
      .getByRole('alert')
      .getByText(/“mars” is not one of waiting, approved/)
      .waitFor();
    const rows = page.getByRole('list', { name: 'Approvals' }).getByRole('link');
    await expect.poll(() => rows.count()).toBe(30);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows.count()).toBe(41);
    await shop.ask(tenant, bot, 'newcomer');
    await rows.first().getByText('newcomer').waitFor();
    await assertFits(page);
  });

  browserTest('is not for a key without the scope', async () => {
    const { tenant, bot } = await waitingBot();
    const key = await tenant.key({ scopes: ['CHAT', 'RUNS', 'ADMIN'] });
    const page = await signedIn(key, `/bots/${bot}/approvals`);
    await page.getByText('Your key lacks the scope approve.').waitFor();
    const main = page.getByRole('navigation', { name: 'Main' });
    await main.getByRole('link', { name: 'Sessions' }).waitFor();
    expect(await main.getByRole('link', { name: 'Approvals' }).count()).toBe(0);
    await page.goto('/settings/keys/new');
    await page.getByRole('dialog').getByText('approve', { exact: true }).waitFor();
  });

  browserTest('shows a key without the scope RUNS no messages', async () => {
    const { tenant, bot } = await waitingBot();
    const [id] = await shop.waiting(bot);
    const key = await tenant.key({ scopes: ['APPROVE'] });
    const page = await signedIn(key, `/bots/${bot}/approvals/${id}`);
    const panel = page.getByRole('region', { name: 'Open approval' });
    await panel.getByText('The messages are not shown. Your key lacks the scope runs.').waitFor();
    await panel.getByRole('button', { name: 'Deny' }).click();
    await panel.getByRole('status').getByText('denied').waitFor();
    await assertAccessible(page);
  });
});
