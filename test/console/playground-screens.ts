import type { Page } from 'playwright-core';

/** A message whose echo shows all Markdown elements. */
const MESSAGE = `Please call time.now. Where is order **A-1042**?

| Order | Status | Price |
| --- | --- | ---: |
| A-1042 | sent on Wednesday | 12.00 |
| A-1043 | waits for \`stock\` | 8.50 |

\`\`\`sh
curl https://shop.example/orders/A-1042
\`\`\`

Thank you`;

const send = async (page: Page, message: string) => {
  await page.getByLabel('Message').fill(message);
  await page.getByLabel('Message').press('Enter');
  await page
    .getByText(/first text after .* tokens/)
    .last()
    .waitFor();
};

const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();

/** The playground's screens by the names of their files, each opened from the previous one. */
export const PLAYGROUND_SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  playground: async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/bots/demo/playground');
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
  },
  'playground-not-deployed': async (page) => {
    await page.goto('/bots/order-desk/playground');
    await page.getByRole('heading', { name: 'Nothing is deployed to production' }).waitFor();
  },
  'playground-reply': async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/bots/demo/playground?session_id=user-42');
    await send(page, MESSAGE);
  },
  'playground-request': (page) =>
    page.getByRole('button', { name: 'Inspect', exact: true }).click(),
  'playground-response': async (page) => {
    await tab(page, 'Response');
    await page.getByRole('button', { name: /RunStarted/ }).click();
  },
  'playground-trace': async (page) => {
    await tab(page, 'Trace');
    await page.getByText('Load history').waitFor();
  },
  'playground-limits': async (page) => {
    await tab(page, 'Limits');
    await page.getByText(/^The window resets/).waitFor();
  },
  'playground-code': (page) => tab(page, 'Code'),
  'playground-context': async (page) => {
    await page.setViewportSize({ width: 800, height: 900 });
    await page.getByRole('button', { name: 'Back to the conversation' }).click();
    await page.getByRole('button', { name: /^context/ }).click();
    await page.getByLabel('Context', { exact: true }).fill('{\n  "plan": "pro",\n  city: 1\n}');
    await page.getByText(/^Line 3, column 3/).waitFor();
  },
  'playground-rest': async (page) => {
    await page.getByLabel('Context', { exact: true }).fill('{ "plan": "pro" }');
    await page.getByRole('button', { name: /^streamed/ }).click();
    await page.getByRole('button', { name: 'REST', exact: true }).click();
  },
  'playground-failed': async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'GraphQL', exact: true }).click();
    await page.getByRole('button', { name: /^streamed/ }).click();
    const message = 'Too many requests. Wait 42 seconds.';
    await page.route('**/graphql/stream', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'x-request-id': 'req_01m80ffmg7fvkb3k' },
        json: {
          errors: [{ message, extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 42 } }],
        },
      }),
    );
    await page.getByLabel('Message').fill('And order A-1043?');
    await page.getByLabel('Message').press('Enter');
    await page.getByText(message).waitFor();
    await page.unroute('**/graphql/stream');
  },
  'playground-compare': async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/bots/demo/playground?session_id=user-43&compare=true');
    await page.getByLabel('Message').fill('Please call time.now, and greet both sides.');
    await page.getByLabel('Message').press('Enter');
    await page.getByText('completed', { exact: true }).nth(1).waitFor();
    await page.getByRole('region', { name: 'Definition in both prompts' }).waitFor();
  },
  'playground-compare-prompt': async (page) => {
    await page.getByRole('button', { name: 'Inspect' }).first().click();
    await page.getByRole('region', { name: 'Message in both prompts' }).waitFor();
  },
};
