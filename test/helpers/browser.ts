import { test } from 'vitest';
import { executablePath } from './chromium.ts';

if (!executablePath && process.env.CI)
  throw new Error('CI runs the tests in a browser too: install Chromium.');
if (!executablePath) console.log('Tests in a browser are skipped: Chromium is not installed.');

/** A test that needs a browser. */
export const browserTest = test.skipIf(!executablePath);
