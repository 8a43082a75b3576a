import type { Page } from 'playwright-core';
import { RunChanges } from '../../src/generated/operations/console.ts';
import type { MadeRun } from '../helpers/runs.ts';

/** Runs a second apart, the first one the newest. */
export function numbered(
  count: number,
  of: (number: number) => Partial<MadeRun> = () => ({}),
): Partial<MadeRun>[] {
  const now = Date.now();
  return Array.from({ length: count }, (_, number) => ({
    input: `Question ${number}`,
    latencyMs: 1_000 + number,
    createdAt: new Date(now - number * 1_000),
    ...of(number),
  }));
}

/** Opens a list of runs, and waits until the page follows it. */
export async function openLive(page: Page, path: string): Promise<void> {
  const following = page.waitForRequest(
    (request) => request.postData()?.includes(RunChanges.documentId) ?? false,
  );
  await page.goto(path);
  // The response begins when the server follows the runs.
  await (await (await following).response())?.headerValue('content-type');
}
