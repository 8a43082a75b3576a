import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import type { Figure, WebPlan } from './web.ts';
import { MESSAGE } from './workload.ts';

/** Garbage collections before a look at the memory. */
const COLLECTIONS = 3;

type Memory = { heap: number; nodes: number; listeners: number };

/**
 * Streams replies into a conversation, begins a new one, and looks at the memory; then does the same again and compares.
 * Both looks see an empty conversation after as many replies and a garbage collection, so a difference is what the second
 * half of the replies left behind.
 */
export async function measureMemory(
  open: () => Promise<BrowserContext>,
  path: string,
  { replies }: WebPlan,
): Promise<Figure[]> {
  const context = await open();
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable');
    await page.goto(path);
    await converse(page, replies);
    const before = await memoryOfNewSession(page, session);
    await converse(page, replies);
    const open = await memoryNow(session);
    const after = await memoryOfNewSession(page, session);
    const compare = (name: string, figure: (memory: Memory) => number, unit = ''): Figure => ({
      name,
      value: `${figure(before)}${unit} → ${figure(after)}${unit} (${(figure(after) / figure(before)).toFixed(2)}x)`,
      bound: 'flat',
    });
    return [
      compare('heap, before → after', ({ heap }) => Math.round(heap / 1024), ' KiB'),
      compare('DOM nodes, before → after', ({ nodes }) => nodes),
      compare('event listeners, before → after', ({ listeners }) => listeners),
      {
        name: 'heap of a reply while its conversation is open',
        value: `${((open.heap - before.heap) / replies / 1024).toFixed(1)} KiB`,
      },
    ];
  } finally {
    await context.close();
  }
}

/** Sends messages one after another, each when the reply before has ended. */
async function converse(page: Page, replies: number): Promise<void> {
  await page.getByLabel('Message').waitFor();
  // In the page, because each call of the test driver would leave something of its own in the page's memory.
  await page.evaluate(sendAll, { message: MESSAGE, replies });
}

async function sendAll({ message, replies }: { message: string; replies: number }) {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const value = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value');
  const isBusy = () => document.querySelector('main form [type=submit]') === null;
  for (let count = 0; count < replies; count += 1) {
    const field = document.querySelector('textarea');
    // React notes what it sets itself, so the value is set past it, as typing does.
    value?.set?.call(field, message);
    field?.dispatchEvent(new Event('input', { bubbles: true }));
    await frame();
    field?.form?.requestSubmit();
    await frame();
    while (isBusy()) await frame();
  }
}

/** The memory of a session without messages, in the same page. */
async function memoryOfNewSession(page: Page, session: CDPSession): Promise<Memory> {
  await page.getByRole('button', { name: 'New session' }).click();
  await page.getByRole('heading', { name: 'Say hello' }).waitFor();
  await page.getByLabel('Message').focus();
  return memoryNow(session);
}

async function memoryNow(session: CDPSession): Promise<Memory> {
  // A finalizer that the first collection calls frees objects that only the next one can collect.
  for (let count = 0; count < COLLECTIONS; count += 1)
    await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const metric = (name: string) => metrics.find((found) => found.name === name)?.value ?? 0;
  return {
    heap: metric('JSHeapUsedSize'),
    nodes: metric('Nodes'),
    listeners: metric('JSEventListeners'),
  };
}
