import type { Page } from 'playwright-core';
import { askToDeploy, confirmIn } from './deployments-page.ts';

const rules = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => `    Rule ${at + 1}: answer what was asked, and no more.`,
  );

const definition = (rule: string, more = '') =>
  `agentlang 5

agent "Support" {
  description "Answers questions about orders"
  prompt """
    You are the support desk of ACME.
${rules(12).join('\n')}
    ${rule}
    """
${more}  channel web
}
`;

const ORDERS = `  tools orders {
    capability lookup "Find one order by its number" {
      input {
        order_id string "Order number"
      }
      get "https://orders.example.com/orders/{{ input.order_id }}" {
        header "Authorization" "Bearer {{ env.ORDERS_TOKEN }}"
      }
    }
  }
`;

const input = (source: string, more: string) =>
  `deploy(botId: "support", input: { source: ${JSON.stringify(source)}, ${more} }) { id }`;

/** The mutations that make the bot of these screens. */
export const DEPLOYMENTS = [
  'createBot(input: { id: "support", name: "Support" }) { id }',
  input(definition('Be brief.'), 'message: "First release"'),
  input(
    definition('Be brief. Name the order number in each reply.', ORDERS),
    'message: "Look orders up", envVars: [{ name: "ORDERS_TOKEN", value: "a-token-of-the-shop" }]',
  ),
  input(definition('Be brief.').replace('prompt', 'promt'), 'message: "Shorter replies"'),
  input(
    definition('Answer in the language of the user.', ORDERS),
    'environment: STAGING, message: "Other languages"',
  ),
];

const openVersion = async (page: Page, version: string) => {
  await page.getByRole('button', { name: new RegExp(`^${version} `) }).click();
  await page.getByRole('region', { name: 'Definition: difference' }).waitFor();
};

/** The screens of deployments by the names of their files, each led to from the one before it. */
export const DEPLOYMENT_SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  deployments: async (page) => {
    await page.goto('/bots/support/deployments');
    await page.getByText('Look orders up').waitFor();
  },
  'deployments-open': async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await openVersion(page, 'v2');
  },
  'deployments-failed': async (page) => {
    await page.goto('/bots/support/deployments?status=failed');
    await openVersion(page, 'v3');
  },
  'deployments-none': async (page) => {
    await page.goto('/bots/support/deployments?status=pending');
    await page.getByText('No deployment matches').waitFor();
  },
  'deployments-empty': async (page) => {
    await page.goto('/bots/order-desk/deployments');
    await page.getByText('Nothing was deployed yet').waitFor();
  },
  'deployments-rollback': async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/bots/support/deployments');
    await openVersion(page, 'v1');
    await page.getByRole('button', { name: 'Roll back to this…' }).click();
    await page.getByRole('dialog').getByText('removed').first().waitFor();
  },
  'deployments-selected': async (page) => {
    await page.goto('/bots/support/deployments');
    for (const version of ['v1', 'v4'])
      await page.getByRole('checkbox', { name: `Compare ${version}` }).check();
  },
  'deployments-compared': async (page) => {
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByRole('region', { name: 'Definition: difference' }).waitFor();
  },
  deploy: async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/bots/support/deployments/new');
    const field = page.getByRole('textbox', { name: 'Definition' });
    await page.getByText('which runs in production.').waitFor();
    const source = await field.inputValue();
    await field.fill(
      source.replace('Be brief.', 'Be brief and kind.').replace('ORDERS_TOKEN', 'SHOP_TOKEN'),
    );
  },
  'deploy-asked': async (page) => {
    await askToDeploy(page);
  },
  'deploy-end': async (page) => {
    await page.getByLabel('env.SHOP_TOKEN').fill('another-token');
    await page.getByLabel('Message').fill('Kinder replies');
  },
  'deploy-confirm': async (page) => {
    await confirmIn(page.getByRole('dialog'), 'Deploy to production…').click();
  },
  'deploy-outcome': async (page) => {
    await page.getByRole('button', { name: /^Deploy to production with/ }).click();
    await page.getByRole('region', { name: 'Outcome' }).waitFor();
  },
};
