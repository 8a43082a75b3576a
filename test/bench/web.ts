import type { Browser, BrowserContext } from 'playwright-core';
import { openBrowser } from '../helpers/chromium.ts';
import { startServer } from './child.ts';
import { align } from './report.ts';
import { BOT_ID, startParley, type TargetOptions } from './targets.ts';
import { measureLoad } from './web-load.ts';
import { measureMemory } from './web-memory.ts';
import { weigh } from './web-weight.ts';

/** One figure beside the bound that the console's specification sets, if it sets one. */
export type Figure = { name: string; value: string; bound?: string };

export type WebPlan = {
  /** How many cold loads of each screen the medians are of. */
  loads: number;
  /** How many replies are streamed between the two looks at the memory. */
  replies: number;
};

/**
 * Measures the console in a real Chromium against a real server: cold loads on a processor slowed down four times, the
 * weight of its scripts, and what memory streamed replies leave behind.
 */
export async function benchWeb(plan: WebPlan, options: TargetOptions): Promise<void> {
  const { signal, stack } = options;
  const upstream = await startServer({ file: 'upstream.ts', signal, stack });
  const parley = await startParley('Parley', `${upstream.url}/v1`, options);
  const browser = await openBrowser();
  stack.defer(() => browser.close());
  const close = () => void browser.close();
  signal.addEventListener('abort', close, { once: true });
  const cookies = await signIn(browser, parley);
  const open = async (): Promise<BrowserContext> => {
    signal.throwIfAborted();
    const context = await browser.newContext({ baseURL: parley.url, reducedMotion: 'reduce' });
    await context.addCookies(cookies);
    return context;
  };

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
  const chat = `/bots/${BOT_ID}/start`;
  print(`Memory, ${plan.replies} streamed replies`, await measureMemory(open, chat, plan));
}

async function signIn(browser: Browser, { url, apiKey }: { url: string; apiKey: string }) {
  const context = await browser.newContext({ baseURL: url });
  const page = await context.newPage();
  await page.goto('/');
  await page.getByLabel('API key').fill(apiKey);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

function print(title: string, figures: Figure[]): void {
  const rows = figures.map(({ name, value, bound = '-' }) => [`  ${name}`, value, bound]);
  console.log(`${align([[title, 'measured', 'bound'], ...rows])}\n`);
}
