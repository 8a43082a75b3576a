import type { Page } from 'playwright-core';

/** The screens of runs by the names of their files, each led to from the one before it. */
export const RUN_SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  runs: async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/bots/demo/runs');
    await page.locator('.run-link').nth(5).waitFor();
  },
  'runs-export': async (page) => {
    await page.goto('/bots/demo/runs?status=completed&range=7d');
    await page.getByRole('button', { name: 'Export…' }).click();
    await page.getByRole('dialog', { name: 'Export runs' }).waitFor();
  },
  'runs-open': async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/bots/demo/runs?range=24h');
    await page.locator('.run-link').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('region', { name: 'Open run' }).getByText('Load history').waitFor();
  },
  'runs-filters': async (page) => {
    await page.goto('/bots/demo/runs?status=broken&user=user-3&range=7d');
    await page.getByText('It is ignored.').waitFor();
    await page.locator('.run-link').first().waitFor();
  },
  'runs-none': async (page) => {
    await page.goto('/bots/demo/runs?user=nobody');
    await page.getByRole('heading', { name: 'No run matches these filters' }).waitFor();
  },
  run: async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    // The oldest one calls a tool. Later replies repeat its message.
    await page.goto('/bots/demo/runs?user=user-6&text=Please');
    await page.locator('.run-link').last().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^time.now/ }).click();
    await page.getByRole('button', { name: 'Good reply' }).click();
  },
  'run-events': async (page) => {
    await page.getByRole('button', { name: 'Events' }).click();
    await page.getByText('Run started').waitFor();
  },
  'run-prompt': async (page) => {
    await page.getByRole('button', { name: 'Prompt', exact: true }).click();
    await page.getByRole('region', { name: 'Definition in the prompt' }).waitFor();
  },
  'run-compare': async (page) => {
    await page.getByRole('button', { name: 'Copy and more' }).click();
    await page.getByRole('menuitem', { name: 'Compare with…' }).click();
    await page.locator('.run-link').nth(3).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Trace of the second run' }).waitFor();
  },
  'run-none': async (page) => {
    await page.goto('/runs/run_00000000000000000000000000');
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
  },
};
