import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { test } from 'vitest';
import { atTheEnd } from './at-the-end.ts';
import { executablePath, openBrowser } from './chromium.ts';

if (!executablePath && process.env.CI)
  throw new Error('CI runs the tests in a browser too: install Chromium.');
if (!executablePath) console.log('Tests in a browser are skipped: Chromium is not installed.');

/** A test that needs a browser. */
export const browserTest = test.skipIf(!executablePath);

let browser: Promise<Browser> | undefined;

/** Opens an empty page in this worker's browser, until the end of the test. It shares no data with other pages. */
export async function openBlankPage(options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= openBrowser();
  const context = await (await browser).newContext(options);
  atTheEnd(() => context.close());
  return context.newPage();
}
