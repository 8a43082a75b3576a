import type { Page } from 'playwright-core';

/** The screens of sessions by the names of their files. */
export const SESSION_SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  sessions: async (page) => {
    await page.goto('/bots/demo/sessions');
    await page.getByRole('link', { name: 'user-3' }).waitFor();
  },
  'sessions-open': async (page) => {
    await page.goto('/bots/demo/sessions?user=user-6');
    await page.locator('summary', { hasText: 'time.now' }).click();
    await page.getByRole('group', { name: 'Result of time.now' }).waitFor();
  },
  'sessions-memory': async (page) => {
    await page.goto('/bots/demo/sessions?user=user-6&tab=memory');
    await page.getByText('Ada Lovelace').waitFor();
  },
  'sessions-fact': async (page) => {
    await page.getByRole('button', { name: 'Edit delivery' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'sessions-forget': async (page) => {
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for the session' }).click();
    await page.getByRole('menuitem', { name: 'Forget everything…' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'sessions-none': async (page) => {
    await page.goto('/bots/demo/sessions?user=nobody');
    await page.getByRole('heading', { name: 'No such session in production' }).waitFor();
  },
  'sessions-empty': async (page) => {
    await page.goto('/bots/order-desk/sessions');
    await page.getByRole('heading', { name: 'No sessions yet' }).waitFor();
  },
};
