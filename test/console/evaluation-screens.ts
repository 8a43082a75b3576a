import type { Page } from 'playwright-core';

/** The screens of evaluations by the names of their files, each led to from the one before it. */
export const EVALUATION_SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  'evaluations-none': async (page) => {
    await page.goto('/bots/demo/evaluations');
    await page.getByRole('heading', { name: 'No evaluation yet' }).waitFor();
  },
  'evaluations-gate': async (page) => {
    await page.getByRole('button', { name: 'Set up…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox', { name: /Recorded runs of production/ }).check();
  },
  'evaluations-start': async (page) => {
    await page.goto('/bots/demo/evaluations');
    await page.getByRole('button', { name: 'Evaluate…' }).click();
    await page.getByRole('dialog').getByText('3 cases').waitFor();
  },
  'evaluations-open': async (page) => {
    await page.getByRole('dialog').getByRole('button', { name: 'Evaluate', exact: true }).click();
    await page.getByRole('status').getByText('3 passed of 3').waitFor();
    await page.getByRole('button', { name: /tells the time/ }).click();
    await page.getByText('reply contains "12:00"').waitFor();
  },
  evaluations: async (page) => {
    await page.goto('/bots/demo/evaluations');
    await page.getByText('3 passed of 3').waitFor();
  },
  'studio-tests': async (page) => {
    await page.goto('/bots/demo/studio?panel=tests');
    await page.getByRole('button', { name: 'Run 3 tests' }).click();
    await page.getByText('3 passed of 3').waitFor();
  },
  'studio-tests-marks': async (page) => {
    await page.getByRole('button', { name: 'line 44' }).click();
    await page.getByTitle('(passed)').first().waitFor();
  },
};
