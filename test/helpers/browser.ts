import { accessSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { test } from 'vitest';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executablePath = PLACES.find((path) => {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
});

if (!executablePath && process.env.CI)
  throw new Error('CI runs the tests in a browser too: install Chromium.');
if (!executablePath) console.log('Tests in a browser are skipped: Chromium is not installed.');

/** A test that needs a browser. */
export const browserTest = test.skipIf(!executablePath);

/** A headless browser that sends no requests of its own to the network. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
