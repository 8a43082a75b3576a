import type { Page } from 'playwright-core';

const source = `agentlang 5

agent "Refund desk" {
  description "Answers questions about orders and refunds"
  prompt "You are the refund desk of ACME."
  tools orders {
    capability refund "Refund an order" {
      input {
        order_id string "Order number"
        amount   number
        reason   "damaged" | "late" | "lost"
        notify   boolean?
      }
      approval "A refund is paid out at once." { expires 24h }
      post "https://api.acme.example/refunds" {
        header "Authorization" "Bearer {{ env.REFUND_TOKEN }}"
      }
    }
  }
}
`;

const ask = (user: string, text: string, order: string, amount: number) => {
  const input = { order_id: order, amount, reason: 'damaged' };
  // The offline model calls the tool that a message names, with the object in the message.
  const message = JSON.stringify(`${text} Please call orders.refund ${JSON.stringify(input)}.`);
  return `chat(botId: "refunds", input: { message: ${message}, sessionId: "${user}" }) { runId }`;
};

/** The mutations that make the bot of these screens, with calls that wait. */
export const APPROVALS = [
  'createBot(input: { id: "refunds", name: "Refund desk" }) { id }',
  `deploy(botId: "refunds", input: { source: ${JSON.stringify(source)}, envVars: [{ name: "REFUND_TOKEN", value: "shop-token-1234567" }] }) { id }`,
  ask('user-31', 'The lamp came broken.', 'A-1077', 84.5),
  ask('user-55', 'My parcel never arrived.', 'A-1058', 129),
  ask('user-8', 'I paid twice.', 'A-1033', 45),
];

/** The screens of approvals by the names of their files, each led to from the one before it. */
export const APPROVAL_SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  approvals: async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/bots/refunds/approvals');
    await page.getByRole('list', { name: 'Approvals' }).waitFor();
  },
  'approvals-open': async (page) => {
    await page.keyboard.press('j');
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await page.getByLabel('order_id').waitFor();
    await page.getByText(/^I paid twice/).waitFor();
  },
  'approvals-changed': async (page) => {
    await page.getByLabel('amount').fill('much');
    await page.getByLabel('Note').fill('Shipping is not refunded.');
    await page.getByText('Type a number').waitFor();
  },
  'approvals-denied': async (page) => {
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('link', { name: 'Follow-up run' }).waitFor();
  },
  'approvals-all': async (page) => {
    await page.goto('/bots/refunds/approvals?status=all');
    await page.getByText('denied', { exact: true }).first().waitFor();
  },
  'approvals-run': async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/bots/refunds/approvals?status=denied');
    await page.getByRole('list', { name: 'Approvals' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('link', { name: 'Requesting run' }).click();
    await page.getByRole('region', { name: 'Selected step' }).waitFor();
  },
  'approvals-playground': async (page) => {
    await page.goto('/bots/refunds/playground?session_id=user-31');
    await page.getByRole('listitem', { name: /waits for approval/ }).waitFor();
  },
  'approvals-session': async (page) => {
    await page.goto('/bots/refunds/sessions?user=user-8');
    await page.getByText('Notice of the server').first().waitFor();
    await page.locator('summary', { hasText: 'orders.refund' }).click();
  },
};
