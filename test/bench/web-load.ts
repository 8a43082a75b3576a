import type { BrowserContext } from 'playwright-core';
import type { Figure, WebPlan } from './web.ts';

/** How many times slower than this machine's the processor is made. */
const SLOWDOWN = 4;
/** A load is over when the main thread had no long task for so long, in milliseconds. */
const QUIET_MS = 1_000;

type Load = {
  /** Milliseconds since the navigation began. */
  firstPaint: number;
  /** When the screen showed its data and the last long task had ended, in milliseconds. */
  ready: number;
  /** The sum of layout shifts (https://web.dev/articles/cls). */
  shift: number;
};

declare global {
  interface Window {
    load: { shownAt: number; lastTask: number; shift: number };
  }
}

/**
 * Loads a screen several times, each time with an empty cache.
 *
 * @param ready the selector of an element that shows the screen's data, or takes input.
 */
export async function measureLoad(
  open: () => Promise<BrowserContext>,
  path: string,
  ready: string,
  { loads }: WebPlan,
): Promise<Figure[]> {
  const all: Load[] = [];
  for (let count = 0; count < loads; count += 1) all.push(await loadOnce(open, path, ready));
  // The fastest load tells most on a machine that other programs use, too.
  const time = (figure: (load: Load) => number) => {
    const times = all.map(figure).sort((one, other) => one - other);
    const median = times[Math.floor(times.length / 2)] ?? 0;
    return `${median.toFixed(0)} ms (${times[0]?.toFixed(0)} ms)`;
  };
  return [
    { name: 'first contentful paint', value: time((load) => load.firstPaint), bound: '1000 ms' },
    { name: 'interaction ready', value: time((load) => load.ready), bound: '1000 ms' },
    {
      name: 'layout shift, the worst load',
      value: Math.max(...all.map(({ shift }) => shift)).toFixed(3),
      bound: '0',
    },
  ];
}

async function loadOnce(
  open: () => Promise<BrowserContext>,
  path: string,
  ready: string,
): Promise<Load> {
  const context = await open();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    await page.addInitScript(observe, ready);
    await page.goto(path);
    await page.waitForFunction(
      (quiet) => {
        const { shownAt, lastTask } = window.load;
        return shownAt > 0 && performance.now() > Math.max(shownAt, lastTask) + quiet;
      },
      QUIET_MS,
      { polling: 100 },
    );
    return await page.evaluate(() => {
      const [paint] = performance.getEntriesByName('first-contentful-paint');
      const { shownAt, lastTask, shift } = window.load;
      return { firstPaint: paint?.startTime ?? 0, ready: Math.max(shownAt, lastTask), shift };
    });
  } finally {
    await context.close();
  }
}

/** Runs in the page before its scripts: notes long tasks, layout shifts, and when the selector first matches. */
function observe(ready: string): void {
  const noted = { shownAt: 0, lastTask: 0, shift: 0 };
  window.load = noted;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) noted.lastTask = startTime + duration;
  }).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      noted.shift += (entry as PerformanceEntry & { value: number }).value;
  }).observe({ type: 'layout-shift', buffered: true });
  const observer = new MutationObserver(() => {
    if (!document.querySelector(ready)) return;
    noted.shownAt = performance.now();
    observer.disconnect();
  });
  observer.observe(document, { childList: true, subtree: true });
}
