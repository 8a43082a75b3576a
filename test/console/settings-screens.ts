import type { Page, Route } from 'playwright-core';

/** Responds to a request as the rate limit does. */
const refuse = (route: Route) =>
  route.fulfill({
    headers: { 'x-request-id': 'req_01m80ffmg7fvkb3k' },
    json: {
      errors: [
        {
          message: 'Too many requests. Wait 42 seconds.',
          extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 42 },
        },
      ],
    },
  });

/** The settings' screens and the palette by the names of their files, each opened from the previous one. */
export const SETTINGS_SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  settings: async (page) => {
    await page.goto('/settings');
    await page.getByText('Key of this session').waitFor();
  },
  'settings-usage': async (page) => {
    await page.goto('/settings/usage');
    await page.getByRole('cell', { name: 'Together' }).waitFor();
  },
  'settings-keys': async (page) => {
    await page.goto('/settings/keys');
    await page.getByText('Web shop').waitFor();
  },
  'settings-key-new': async (page) => {
    await page.goto('/settings/keys/new');
    await page.getByLabel('Name').fill('Night shift');
    await page.getByLabel('Only some bots').check();
    await page.getByLabel('Demo').check();
  },
  'settings-key-secret': async (page) => {
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Copy it now').waitFor();
  },
  'settings-key-rotate': async (page) => {
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('button', { name: 'Actions for Operator' }).click();
    await page.getByRole('menuitem', { name: 'Rotate…' }).click();
  },
  'settings-key-revoke': async (page) => {
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Operator' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  },
  'settings-audit': async (page) => {
    await page.goto('/settings/audit');
    await page.getByText('created a bot').last().waitFor();
  },
  'settings-audit-none': async (page) => {
    await page.goto('/settings/audit?action=promote&from=2026-01-01');
    await page.getByText('No entry matches').waitFor();
  },
  'settings-accounts': async (page) => {
    await page.goto('/settings/accounts');
    await page.getByText('ACME').waitFor();
  },
  'settings-account-change': async (page) => {
    await page.getByRole('button', { name: 'Actions for ACME' }).click();
    await page.getByRole('menuitem', { name: 'Change…' }).click();
    await page.getByLabel('Plan').selectOption('Enterprise');
  },
  'settings-account-new': async (page) => {
    await page.goto('/settings/accounts/new');
    await page.getByLabel('Name').waitFor();
  },
  'settings-server': async (page) => {
    await page.goto('/settings/server');
    await page.getByText('answers in').waitFor();
  },
  'settings-model-test': async (page) => {
    await page.getByRole('button', { name: 'Test model' }).click();
    await page.getByText('The model cannot be used.').waitFor();
  },
  palette: async (page) => {
    await page.keyboard.press('Control+K');
    await page.getByRole('option', { name: 'Order desk' }).waitFor();
  },
  'palette-found': (page) => page.getByRole('combobox', { name: /^Go to/ }).fill('ap k'),
  'failed-limit': async (page) => {
    await page.route('**/graphql', refuse);
    await page.goto('/settings/audit');
    await page.getByText('Try again in').waitFor();
    await page.unroute('**/graphql');
  },
};
