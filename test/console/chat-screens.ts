import type { Page } from 'playwright-core';
import { startSite } from '../helpers/site.ts';

/** The widths of a telephone and of a desktop. */
export const CHAT_SIZES = [
  [360, 780],
  [1280, 800],
] as const;

const source = `agentlang 5

agent "Garden shop" {
  description "Answers questions about plants and orders"
  prompt "You are the garden shop's desk."
  tools time
  channel web {
    title       "The garden shop"
    accent      "#2f6f3e"
    welcome "Hi! I am the desk of the **garden shop**. Ask me about a plant or an order."
    suggestions "Where is my order?", "Which roses like shade?", "I want to return something"
  }
}
`;

const MESSAGE = 'Which roses like shade? Please call time.now, and tell me when you deliver.';

const openWidget = async (page: Page) => {
  await page.getByRole('button', { name: 'Ask us' }).click();
  return page.frameLocator('parley-chat iframe');
};

/**
 * The chat page and the widget by the names of their files, each led to from the one before it.
 *
 * @param change runs a mutation.
 * @returns the screens, and a function that ends the shop, whose page has the widget.
 */
export async function chatScreens(url: string, change: (field: string) => Promise<unknown>) {
  const shop = await startSite();
  const origin = `http://localhost:${shop.port}`;
  shop.handle((_request, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(
        `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Shop</title><body style="font: 17px/1.7 Georgia, serif; margin: 8vw"><h1>The garden shop</h1>${'<p>Roses, ferns and everything that grows in the shade of a tall house, delivered on Thursdays.</p>'.repeat(12)}<script src="${url}/widget.js" data-bot="garden" data-label="Ask us" async></script>`,
      ),
  );
  await change('createBot(input: { id: "garden", name: "Garden shop" }) { id }');
  await change(`deploy(botId: "garden", input: { source: ${JSON.stringify(source)} }) { id }`);
  await change(`updateBot(id: "garden", input: { webOrigins: ["${origin}"] }) { id }`);
  const screens: Record<string, (page: Page) => Promise<unknown>> = {
    'chat-welcome': async (page) => {
      await page.goto('/chat/garden');
      await page.getByRole('button', { name: 'Which roses like shade?' }).waitFor();
    },
    'chat-conversation': async (page) => {
      for (const [count, message] of [MESSAGE, 'Thank you!'].entries()) {
        await page.getByLabel('Message').fill(message);
        await page.keyboard.press('Enter');
        await page.locator('.message-reply[aria-busy="false"]').nth(count).waitFor();
      }
    },
    'chat-menu': (page) => page.getByRole('button', { name: 'Conversation' }).click(),
    'chat-forget': async (page) => {
      await page.getByRole('menuitem', { name: 'Forget' }).click();
      await page.getByRole('dialog').waitFor();
    },
    'chat-missing': (page) => page.goto('/chat/no-such-bot'),
    widget: async (page) => {
      await page.goto('/chat/no-such-bot');
      await page.evaluate(() => localStorage.clear());
      await page.goto(origin);
      await page.getByRole('button', { name: 'Ask us' }).waitFor();
    },
    'widget-open': async (page) => {
      const chat = await openWidget(page);
      await chat.getByRole('button', { name: 'Which roses like shade?' }).waitFor();
    },
    'widget-conversation': async (page) => {
      const chat = page.frameLocator('parley-chat iframe');
      await chat.getByLabel('Message').fill(MESSAGE);
      await page.keyboard.press('Enter');
      await chat.locator('.message-reply[aria-busy="false"]').waitFor();
    },
    'widget-unavailable': async (page) => {
      await change('updateBot(id: "garden", input: { webOrigins: [] }) { id }');
      await page.reload();
      await openWidget(page);
      await page.getByText('The chat is not available here.').waitFor();
    },
  };
  return { screens, close: shop.close };
}
