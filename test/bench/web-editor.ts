import type { BrowserContext, CDPSession } from 'playwright-core';
import { sourceOf } from './definition.ts';
import { percentile } from './load.ts';
import { BOT_ID, type Target } from './targets.ts';
import type { Figure } from './web.ts';

const BYTES = 64 * 1024;
const KEYS = 100;

/**
 * Types into a definition of 64 KiB in the Studio. A key press takes the main thread's time until its frame is on the
 * screen. The check of the text follows after that, and both together are the time of all tasks.
 */
export async function measureKeys(
  open: () => Promise<BrowserContext>,
  { url, headers }: Target & { url: string },
): Promise<Figure[]> {
  const response = await fetch(`${url}/v1/bots/${BOT_ID}/deploy`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ agentlang: sourceOf(BYTES), env_vars: { SHOP_KEY: 'key' } }),
  });
  if (!response.ok) throw new Error(`The deploy was answered with ${response.status}.`);
  const context = await open();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable');
    await page.goto(`/bots/${BOT_ID}/studio`);
    const text = page.locator('.cm-content');
    await text.click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.type(' # ');
    await page.evaluate(noteKeys);
    const before = await tasksOf(session);
    await page.keyboard.type('x'.repeat(KEYS), { delay: 50 });
    const after = await tasksOf(session);
    const times = await page.evaluate(() => window.keys);
    const ms = (time: number) => `${time.toFixed(1)} ms`;
    return [
      { name: 'key press to its frame, median', value: ms(percentile(times, 0.5)), bound: '16 ms' },
      { name: 'key press to its frame, p95', value: ms(percentile(times, 0.95)), bound: '16 ms' },
      { name: 'all tasks for each key press', value: ms((after - before) / KEYS) },
    ];
  } finally {
    await context.close();
  }
}

declare global {
  interface Window {
    keys: number[];
  }
}

/** Runs in the page: notes the time from each key's first handler to the end of the frame's style and layout. */
function noteKeys(): void {
  window.keys = [];
  let pressedAt: number | undefined;
  addEventListener(
    'keydown',
    () => {
      pressedAt = performance.now();
    },
    { capture: true },
  );
  addEventListener('input', () => {
    const start = pressedAt;
    if (start === undefined) return;
    pressedAt = undefined;
    // Reading a size does the style and layout of the frame, without the wait for the screen.
    document.body.getBoundingClientRect();
    window.keys.push(performance.now() - start);
  });
}

/** The milliseconds that the page's main thread has worked. */
async function tasksOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
}
