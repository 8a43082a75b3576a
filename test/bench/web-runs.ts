import type { BrowserContext, Page } from 'playwright-core';
import { percentile } from './load.ts';
import { freshDatabase } from './postgres.ts';
import { storeRuns } from './run-store.ts';
import { BOT_ID, startParley, type Target, type TargetOptions } from './targets.ts';
import type { Figure, WebPlan } from './web.ts';
import { sessionId } from './workload.ts';

const SCROLL_MS = 5_000;
/** Pixels that each frame scrolls. */
const SCROLL_STEP = 120;
const LIVE_RUNS_A_SECOND = 50;
/** Searches for common and rare words. */
const SEARCHES = ['order', 'word1', '"rare word"', 'word17', 'word3000'];

/** Starts Parley on PostgreSQL with stored runs of the benchmark's bot. */
export async function startWithRuns(
  upstreamUrl: string,
  options: TargetOptions & { postgresUrl: string },
  { runs }: WebPlan,
) {
  const databaseUrl = await freshDatabase(options.postgresUrl, options.stack);
  const parley = await startParley('Parley', upstreamUrl, options, databaseUrl);
  await storeRuns(databaseUrl, runs);
  return parley;
}

/**
 * Measures the list of runs in the browser: its first rows, scrolling, searching, and the memory that it needs while new
 * runs arrive.
 */
export async function measureRuns(
  open: () => Promise<BrowserContext>,
  parley: Target,
  { loads, liveSeconds }: WebPlan,
  signal: AbortSignal,
): Promise<Figure[]> {
  const context = await open();
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const firstRows = await openings(page, loads);
    const loadedRows = await navigations(page, loads);
    const { frames, rows } = await page.evaluate(scroll, { ms: SCROLL_MS, step: SCROLL_STEP });
    const searches: number[] = [];
    for (const text of SEARCHES) searches.push(await page.evaluate(search, text));
    await page.goto(`/bots/${BOT_ID}/runs`);
    await page.locator(ROW).first().waitFor();
    const sent = await sendChats(parley, liveSeconds, signal);
    const memory = await heapOf(page);
    return [
      {
        name: 'first rows after the click, median',
        value: `${percentile(firstRows, 0.5).toFixed(0)} ms`,
        bound: '300 ms',
      },
      {
        name: 'first rows after the page is loaded again, median',
        value: `${percentile(loadedRows, 0.5).toFixed(0)} ms`,
      },
      {
        name: `frames a second while scrolling, to row ${rows}`,
        value: ((frames / SCROLL_MS) * 1_000).toFixed(0),
        bound: '50',
      },
      {
        name: 'rows of a search after the last key, the slowest',
        value: `${Math.max(...searches).toFixed(0)} ms`,
        bound: '300 ms',
      },
      { name: `heap after ${sent} new runs in the open list`, value: memory, bound: '200 MB' },
    ];
  } finally {
    await context.close();
  }
}

const ROW = '.run-table a[data-index]';

/** The milliseconds between the click that opens the list and its first rows. */
async function openings(page: Page, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < count; number += 1) {
    await page.goto(`/bots/${BOT_ID}/playground`);
    await page.getByLabel('Message').waitFor();
    times.push(await page.evaluate(openRuns, ROW));
  }
  return times;
}

/** The milliseconds between the start of a navigation to the list, with the files in the browser's cache, and its first rows. */
async function navigations(page: Page, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < count; number += 1) {
    await page.goto(`/bots/${BOT_ID}/runs`, { waitUntil: 'commit' });
    const shown = await page.waitForFunction(
      (row) => document.querySelector(row) && performance.now(),
      ROW,
      { polling: 'raf' },
    );
    times.push(Number(await shown.jsonValue()));
  }
  return times;
}

/** Runs in the page. */
async function openRuns(row: string): Promise<number> {
  const link = [...document.querySelectorAll('nav a')].find(({ textContent }) =>
    /^Runs\b/.test(textContent?.trim() ?? ''),
  );
  if (!(link instanceof HTMLElement)) throw new Error('There is no link to the runs.');
  const start = performance.now();
  link.click();
  while (!document.querySelector(row)) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}

/** Runs in the page. @returns the number of frames, and of rows that were read. */
async function scroll({ ms, step }: { ms: number; step: number }) {
  const list = document.querySelector('.run-scroll');
  if (!list) throw new Error('There is no list to scroll.');
  const start = performance.now();
  let frames = 0;
  while (performance.now() - start < ms) {
    list.scrollTop += step;
    await new Promise(requestAnimationFrame);
    frames += 1;
  }
  const indexes = [...list.querySelectorAll<HTMLElement>('a[data-index]')].map(({ dataset }) =>
    Number(dataset.index),
  );
  return { frames, rows: Math.max(...indexes) };
}

/** Runs in the page. @returns the milliseconds from the last change of the text to the rows that match it. */
async function search(text: string): Promise<number> {
  const field = document.querySelector<HTMLInputElement>('.filter-search input');
  if (!field) throw new Error('There is no search field.');
  const frame = () => new Promise(requestAnimationFrame);
  const isSearched = () => new URL(location.href).searchParams.get('text') === text;
  const list = () => document.querySelector('.run-scroll');
  // React notes what it sets itself, so the value is set past it, as typing does.
  const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
  value?.set?.call(field, text);
  field.dispatchEvent(new Event('input', { bubbles: true }));
  const start = performance.now();
  while (!isSearched()) await frame();
  await frame();
  while (list()?.getAttribute('aria-busy') === 'true') await frame();
  return performance.now() - start;
}

/** Sends chats at a steady rate. @returns how many succeeded. */
async function sendChats(parley: Target, seconds: number, signal: AbortSignal): Promise<number> {
  const headers = { ...parley.headers, 'content-type': 'application/json' };
  const start = performance.now();
  const pending: Promise<Response>[] = [];
  for (let number = 0; number < seconds * LIVE_RUNS_A_SECOND; number += 1) {
    const wait = start + (number * 1_000) / LIVE_RUNS_A_SECOND - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    signal.throwIfAborted();
    pending.push(
      fetch(parley.chatUrl, {
        method: 'POST',
        headers: { ...headers, 'x-session-id': sessionId(number % 128) },
        body: JSON.stringify({ message: `Live message ${number}` }),
        signal,
      }).then(async (response) => {
        await response.arrayBuffer();
        return response;
      }),
    );
  }
  return (await Promise.all(pending)).filter(({ ok }) => ok).length;
}

/** The page's heap, before a garbage collection. */
async function heapOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const used = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
  return `${(used / 1e6).toFixed(0)} MB`;
}
