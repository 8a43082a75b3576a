import type { Browser, BrowserContext } from 'playwright-core';
import { openBrowser } from '../helpers/chromium.ts';
import { startServer } from './child.ts';
import { align } from './report.ts';
import { BOT_ID, startParley, type TargetOptions } from './targets.ts';
import { measureKeys } from './web-editor.ts';
import { measureLoad } from './web-load.ts';
import { measureMemory } from './web-memory.ts';
import { measureRuns, startWithRuns } from './web-runs.ts';
import { weigh } from './web-weight.ts';

/** One figure beside the bound that the console's specification sets, if it sets one. */
export type Figure = { name: string; value: string; bound?: string };

export type WebPlan = {
  /** How many cold loads of each screen the medians are of. */
  loads: number;
  /** How many replies are streamed before each of the two looks at the memory. */
  replies: number;
  /** How many runs the list of runs has. */
  runs: number;
  /** How long new runs arrive in the open list, in seconds. */
  liveSeconds: number;
};

/**
 * Measures the console in a real Chromium against a real server: cold loads on a processor slowed down four times, the
 * weight of its scripts, a key press in the editor, what memory streamed replies leave behind, and, on PostgreSQL, the list of a million runs.
 */
export async function benchWeb(plan: WebPlan, options: TargetOptions): Promise<void> {
  const { signal, stack } = options;
  const upstream = await startServer({ file: 'upstream.ts', signal, stack });
  const parley = await startParley('Parley', `${upstream.url}/v1`, options);
  const browser = await openBrowser();
  stack.defer(() => browser.close());
  const close = () => void browser.close();
  signal.addEventListener('abort', close, { once: true });
  const open = await signIn(browser, parley, signal);

  for (const [name, path, ready] of [
    ['Bots', '/bots', 'main table tbody tr'],
    ['Chat', `/bots/${BOT_ID}/start`, 'main textarea'],
    ['Guide', '/guide', 'main article h2'],
  ] as const) {
    print(
      `${name}, ${plan.loads} cold loads: median (fastest)`,
      await measureLoad(open, path, ready, plan),
    );
  }
  print('Scripts, brotli', await weigh());
  const chat = `/bots/${BOT_ID}/playground`;
  print(`Memory, ${plan.replies} streamed replies`, await measureMemory(open, chat, plan));
  print('Studio, a definition of 64 KiB', await measureKeys(open, parley));
  const { postgresUrl } = options;
  if (!postgresUrl) {
    console.log('The list of runs is measured on PostgreSQL: set BENCH_DATABASE_URL.');
    return;
  }
  const withRuns = await startWithRuns(`${upstream.url}/v1`, { ...options, postgresUrl }, plan);
  const openRuns = await signIn(browser, withRuns, signal);
  print(`Runs, ${plan.runs} of one bot`, await measureRuns(openRuns, withRuns, plan, signal));
}

/** @returns a function that opens a signed-in browser context with an empty cache. */
async function signIn(
  browser: Browser,
  { url, apiKey }: { url: string; apiKey: string },
  signal: AbortSignal,
): Promise<() => Promise<BrowserContext>> {
  const context = await browser.newContext({ baseURL: url });
  const page = await context.newPage();
  await page.goto('/');
  await page.getByLabel('API key').fill(apiKey);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const cookies = await context.cookies();
  await context.close();
  return async () => {
    signal.throwIfAborted();
    const context = await browser.newContext({ baseURL: url, reducedMotion: 'reduce' });
    await context.addCookies(cookies);
    return context;
  };
}

function print(title: string, figures: Figure[]): void {
  const rows = figures.map(({ name, value, bound = '-' }) => [`  ${name}`, value, bound]);
  console.log(`${align([[title, 'measured', 'bound'], ...rows])}\n`);
}
