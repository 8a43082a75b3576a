import type { Page } from 'playwright-core';
import { askToDeploy } from './deployments-page.ts';
import { editorOf, putCursor, write } from './studio-page.ts';

const DEFINITION = `agentlang 5

agent "Order desk" {
  description "Answers order questions for ACME"

  model "gpt-6-luna" {
    temprature 0.2
    max_tokens  800
  }

  # The tone is agreed with the support team.
  prompt """
    You are the order desk of ACME. Be brief.
    The customer's plan: {{ context.plan ?? "free" }}.
    """

  memory {
    name "The customer's first name"
    city "Where orders are shipped"
  }

  channel web {
    welcome     "Hi! Ask me about an order."
    suggestions "Where is my order?", "I want to return something"
  }

  tools orders {
    capability lookup "Find one order by its number" {
      input {
        order_id string "Order number, such as A-1042"
      }
      get "https://api.acme.example/orders/{{ input.order_id }}" {
        header  "Authorization" "Bearer {{ env.ORDERS_KEY }}"
        timeout 5s
      }
    }
  }
}
`;

const wide = (page: Page) => page.setViewportSize({ width: 1440, height: 900 });
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();

/** The Studio's screens by the names of their files, each opened from the previous one. */
export const STUDIO_SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  studio: async (page) => {
    await wide(page);
    await page.goto('/bots/demo/studio');
    await editorOf(page).waitFor();
  },
  'studio-not-deployed': async (page) => {
    await page.goto('/bots/order-desk/studio');
    await editorOf(page).waitFor();
  },
  'studio-problems': async (page) => {
    await wide(page);
    await write(page, DEFINITION);
    await tab(page, 'Problems');
    await page.getByRole('list', { name: 'Problems' }).waitFor();
  },
  'studio-problem': async (page) => {
    await page.getByRole('button', { name: /unknown setting/ }).click();
    await page.locator('.cm-lintRange-error').first().hover();
    await page.getByRole('button', { name: 'Change to temperature' }).waitFor();
  },
  'studio-outline': async (page) => {
    await wide(page);
    await write(page, DEFINITION.replace('temprature', 'temperature'));
    await tab(page, 'Outline');
    await page.getByRole('list', { name: 'Tools' }).waitFor();
  },
  'studio-completion': async (page) => {
    await tab(page, 'Editor').catch(() => wide(page));
    await putCursor(page, 8, '800');
    await page.keyboard.press('Enter');
    await page.keyboard.type('t');
    await page.getByRole('listbox').waitFor();
  },
  'studio-rename': async (page) => {
    await wide(page);
    await page.keyboard.press('Escape');
    await putCursor(page, 20, 'city');
    await page.keyboard.press('F2');
    await page.getByRole('dialog').waitFor();
  },
  'studio-search': async (page) => {
    await page.keyboard.press('Escape');
    await editorOf(page).focus();
    await page.keyboard.press('Control+f');
    await page.keyboard.type('order');
  },
  'studio-chat': async (page) => {
    await wide(page);
    await page.goto('/bots/demo/studio?panel=chat');
    await editorOf(page).waitFor();
    await putCursor(page, 4, '"Demo');
    await page.keyboard.insertText(', next version');
    await page.getByLabel('Message').fill('Hello! Please call time.now.');
    await page.getByLabel('Message').press('Enter');
    await page.getByRole('link', { name: 'run', exact: true }).waitFor();
    await page.getByText(/first text after .* tokens/).waitFor();
  },
  'studio-deploy': async (page) => {
    await wide(page);
    const dialog = await askToDeploy(page);
    await dialog.getByText('Demo, next version').last().waitFor();
  },
};
