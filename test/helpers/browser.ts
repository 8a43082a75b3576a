import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { test } from 'vitest';
import { atTheEnd } from './at-the-end.ts';
import { executablePath, openBrowser } from './chromium.ts';
import { assertQuiet, recordPages } from './page-log.ts';

if (!executablePath && process.env.CI)
  throw new Error('CI runs the tests in a browser too: install Chromium.');
if (!executablePath) console.log('Tests in a browser are skipped: Chromium is not installed.');

/** A test that needs a browser. */
export const browserTest = test.skipIf(!executablePath);

/** As long as the limit of a poll: long enough for the slowest machine, so a page that reaches it hangs. */
const WAIT_MS = 120_000;

let browser: Promise<Browser> | undefined;

/**
 * Opens an empty page in this worker's browser, until the end of the test. It shares no data with other pages. The test
 * fails if the page logged a problem (see `expectProblems`), contacted another host than the host of `baseURL`, or leaked a key.
 * Motion is reduced: the browser would paint a moving placeholder 60 times a second.
 */
export async function openBlankPage(options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= openBrowser();
  const context = await (await browser).newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(WAIT_MS);
  recordPages(context, options.baseURL && new URL(options.baseURL).host);
  atTheEnd(async () => {
    try {
      await assertQuiet(context);
    } finally {
      await context.close();
    }
  });
  return context.newPage();
}
