import type { Page } from 'playwright-core';
import type { TestApp } from '../helpers/app.ts';

/** The address of a bot's playground. */
export function pathOf(bot: string, search = ''): string {
  return `/bots/${bot}/playground${search}`;
}

/** Writes a message and sends it. */
export async function ask(page: Page, message: string): Promise<void> {
  await page.getByLabel('Message').fill(message);
  await page.getByLabel('Message').press('Enter');
}

/** Makes the model reply to each message with these fragments. */
export function answerWith({ upstream }: TestApp, ...texts: string[]): void {
  upstream.script(({ say, end }) => {
    for (const text of texts) say(text);
    end();
  });
}

/** The messages of the last request that the model server received. */
export function lastAsked({ upstream }: TestApp) {
  return upstream.requests.at(-1)?.body.messages ?? [];
}

/** A model's call of the built-in clock. */
export const CLOCK: [name: string, input: object] = ['time_now', {}];
