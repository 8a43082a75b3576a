import type { Page } from 'playwright-core';

/** The guide, the API reference and GraphiQL by the names of their files. */
export const GUIDE_SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  guide: async (page) => {
    await page.goto('/guide');
    await page.getByRole('heading', { name: 'A tour in five minutes' }).waitFor();
  },
  'guide-search': async (page) => {
    await page.goto('/guide/operations#settings');
    await page.getByLabel('Search the guide').fill('back');
    await page.getByRole('option').first().waitFor();
  },
  'guide-language': async (page) => {
    await page.goto('/guide/language#templates');
    await page.getByRole('heading', { name: 'Templates' }).waitFor();
  },
  docs: async (page) => {
    await page.goto('/docs');
    await page.getByRole('button', { name: /^Account/ }).waitFor();
  },
  'docs-operation': (page) => page.goto('/docs#chat'),
  graphql: async (page) => {
    const query = '{ viewer { account { name plan } } }';
    await page.goto(`/graphql?query=${encodeURIComponent(query)}`);
    await page.getByText(/^Operations run with/).waitFor();
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.result-window').getByText('ENTERPRISE').waitFor();
  },
};
