import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

/** What the pages of a browser context logged and requested. */
type PageLog = {
  /** The warnings and errors, without Chromium's entry for each response with an error status. */
  problems: string[];
  /** All entries, and all requests with their bodies: none may hold a key. */
  texts: string[];
  addresses: string[];
  /** Patterns of expected problems. */
  expected: RegExp[];
  /** The only host that may be contacted, or any on this machine. */
  host: string | undefined;
};

const logs = new WeakMap<BrowserContext, PageLog>();

const KEY = /parley_s[ik]_\w{20}/;
const THIS_MACHINE = /^(127\.0\.0\.1|\[::1\]|localhost)$/;

/** Whether an entry of the log is about a font that a slow machine uses late. */
export const isLateFont = (text: string): boolean =>
  text.includes('was preloaded using link preload but not used');

/** Records the log and the requests of all pages of a context. @param host the only host that may be contacted. */
export function recordPages(context: BrowserContext, host: string | undefined): void {
  const log: PageLog = { problems: [], texts: [], addresses: [], expected: [], host };
  logs.set(context, log);
  context.on('console', (message) => {
    const text = message.text();
    log.texts.push(text);
    // Chromium logs every response with an error status.
    if (text.startsWith('Failed to load resource')) return;
    if (isLateFont(text)) return;
    if (['error', 'warning'].includes(message.type())) log.problems.push(text);
  });
  context.on('weberror', (error) => log.problems.push(error.error().message));
  context.on('request', (request) => {
    const isSignIn = new URL(request.url()).pathname.startsWith('/session');
    log.addresses.push(request.url());
    log.texts.push(`${request.url()} ${isSignIn ? '' : (request.postData() ?? '')}`);
  });
  context.on('page', (page) =>
    page.on('websocket', (socket) => {
      log.addresses.push(socket.url());
      log.texts.push(socket.url());
    }),
  );
}

/** Expects warnings or errors in a page's log, which fail the test otherwise. Fails at the end if no entry matches. */
export function expectProblems(page: Page, pattern: RegExp): void {
  logOf(page.context()).expected.push(pattern);
}

/**
 * Fails if a page logged a warning or an error, violated its policy, contacted another host, or sent, logged or stored a
 * key, or if no entry of the log matches an expected problem.
 */
export async function assertQuiet(context: BrowserContext): Promise<void> {
  const { problems, texts, addresses, expected, host } = logOf(context);
  expect(problems.filter((text) => !expected.some((pattern) => pattern.test(text)))).toEqual([]);
  expect(addresses.filter((address) => isForeign(address, host))).toEqual([]);
  expect(texts.filter((text) => KEY.test(text))).toEqual([]);
  for (const page of context.pages()) expect(await storedBy(page)).not.toMatch(/parley_s|\bcode=/);
  const missing = expected.filter((pattern) => !problems.some((text) => pattern.test(text)));
  expect(missing, 'expected problems that no page logged').toEqual([]);
}

function logOf(context: BrowserContext): PageLog {
  const log = logs.get(context);
  if (!log) throw new Error('The pages of this context are not recorded.');
  return log;
}

function isForeign(address: string, own: string | undefined): boolean {
  const { host, hostname } = new URL(address);
  // An address such as `data:` has no host.
  if (host === '') return false;
  return own === undefined ? !THIS_MACHINE.test(hostname) : host !== own;
}

/** The page's storage, readable cookies and address. */
async function storedBy(page: Page): Promise<string> {
  // An empty page, and the browser's page of an error, have no storage.
  if (page.isClosed() || !page.url().startsWith('http')) return '';
  const read = () =>
    page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
    );
  // A navigation at the same time destroys the page's scripts.
  return read().catch(async () => {
    await page.waitForLoadState('domcontentloaded');
    return read();
  });
}
