import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openBlankPage } from '../helpers/browser.ts';

/** A page of the console, with a check of its log, its requests and its storage. */
export type ConsolePage = {
  page: Page;
  /** Fails if the page logged an error, violated its policy, contacted another host, or sent or stored a key. */
  assertQuiet(): Promise<void>;
};

const KEY = /parley_sk_\w{20}/;

/** Opens an empty page that records its warnings and its requests, until the end of the test. */
export async function openPage(
  url: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const page = await openBlankPage({ baseURL: url, ...options });
  const warnings: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    // Chromium logs every response with an error status.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (!isAnswer && ['error', 'warning'].includes(message.type())) warnings.push(message.text());
  });
  page.on('pageerror', ({ message }) => warnings.push(message));
  page.on('request', (request) => {
    const isSignIn = new URL(request.url()).pathname === '/session';
    requests.push(`${request.url()} ${isSignIn ? '' : (request.postData() ?? '')}`);
  });
  return {
    page,
    async assertQuiet() {
      expect(warnings).toEqual([]);
      const { host } = new URL(url);
      const foreign = requests.filter(
        (request) => new URL(request.split(' ')[0] ?? '').host !== host,
      );
      expect(foreign.filter((request) => !request.startsWith('data:'))).toEqual([]);
      expect(requests.filter((request) => KEY.test(request))).toEqual([]);
      const kept = await page.evaluate(() =>
        JSON.stringify([
          { ...localStorage },
          { ...sessionStorage },
          document.cookie,
          location.href,
        ]),
      );
      expect(kept).not.toMatch(/parley_s|code=/);
    },
  };
}

/** The rules whose outcome depends on the theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Fails if a part of the page is inaccessible to a screen reader or hard to see, in either theme.
 *
 * @param foreign a selector of elements that another project renders.
 */
export async function assertAccessible(page: Page, foreign?: string): Promise<void> {
  // A reload of the page loses the script.
  if (await page.evaluate(() => !('axe' in window))) await page.evaluate(axe.source);
  for (const [colorScheme, rules] of [
    ['light', undefined],
    ['dark', COLOUR_RULES],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const violations = await page.evaluate(
      async ({ exclude, runOnly }) => {
        const { violations } = await window.axe.run(exclude ? { exclude } : document, {
          resultTypes: ['violations'],
          ...(runOnly && { runOnly }),
        });
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html)}`);
      },
      { exclude: foreign, runOnly: rules },
    );
    expect(violations, `${page.url()}, ${colorScheme}`).toEqual([]);
  }
}

/** Fails if the page is larger than its window. Only parts of the page may scroll. */
export async function assertFits(page: Page): Promise<void> {
  const widths = [360, 1024, 1600];
  const before = page.viewportSize();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    const over = await page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      return [scrollWidth - innerWidth, scrollHeight - innerHeight];
    });
    expect([page.url(), width, ...over]).toEqual([page.url(), width, 0, 0]);
  }
  if (before) await page.setViewportSize(before);
}

declare global {
  interface Window {
    axe: typeof axe;
  }
}
