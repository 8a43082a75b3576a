import type { Page } from 'playwright-core';
import type { TestApp } from '../helpers/app.ts';

/** The address of a bot's playground. */
export function pathOf(bot: string, search = ''): string {
  return `/bots/${bot}/playground${search}`;
}

/** Writes a message and sends it. */
export async function ask(page: Page, message: string): Promise<void> {
  // The prompt of a reply has a part with the same name.
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill(message);
  await field.press('Enter');
}

/** Asks for a reply that ends only if it is stopped, and waits for its first words. */
export async function askForStory({ upstream }: TestApp, page: Page): Promise<void> {
  upstream.script(async ({ say, end, closed }) => {
    say('Once upon a time');
    await closed;
    end();
  });
  await ask(page, 'Tell me a story');
  await page.getByText('Once upon a time').waitFor();
}

/** Makes the model reply to each message with these fragments. */
export function answerWith({ upstream }: TestApp, ...texts: string[]): void {
  upstream.script(({ say, end }) => {
    for (const text of texts) say(text);
    end();
  });
}

/** Makes the model refuse each message, so that its run fails. */
export function refuseAll({ upstream }: TestApp): void {
  upstream.script(({ response }) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"no"}}');
  });
}

/** Lets the playground send by REST with a typed key. */
export async function typeRestKey(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'REST', exact: true }).click();
  await page.getByLabel('API key for REST').fill(key);
  await page.getByRole('button', { name: 'Use key' }).click();
}

/** The messages of the last request that the model server received. */
export function lastAsked({ upstream }: TestApp) {
  return upstream.requests.at(-1)?.body.messages ?? [];
}

/** Makes the model save the fact `city` when the user names it, and then reply. */
export function saveCity({ upstream }: TestApp): void {
  upstream.script(({ request, call, say, end }) => {
    const { role, content } = request.body.messages.at(-1) ?? {};
    if (role === 'user' && content === 'I live in Oslo.')
      return call(['memory_save', { name: 'city', value: 'Oslo, Norway' }]);
    say('Noted.');
    return end();
  });
}

/** A model's call of the built-in clock. */
export const CLOCK: [name: string, input: object] = ['time_now', {}];
