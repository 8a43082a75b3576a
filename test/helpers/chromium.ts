import { accessSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's headless shell comes first: a page takes half of the CPU time that it takes in the whole browser. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The path of an installed Chromium, if any. */
export const executablePath = PLACES.find((path) => {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
});

/** A headless browser without background requests to the network. */
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
