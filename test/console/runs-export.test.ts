import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** A bot with runs that fill several parts of a file. */
async function botWithRuns(count: number) {
  const tenant = await app.tenant();
  const bot = await tenant.bot(null);
  const now = Date.now();
  const runs = Array.from({ length: count }, (_, number) => ({
    input: `Question ${number}`,
    response: 'A reply, "quoted"\nand long. '.repeat(number % 3 === 0 ? 60 : 1),
    status: number % 2 ? ('FAILED' as const) : ('COMPLETED' as const),
    createdAt: new Date(now - number * 1_000),
  }));
  await makeRuns(app, bot, runs);
  return { tenant, bot };
}

/** A browser that writes to files asks for their place. This one writes below its private folder. */
const chooseFiles = (page: Page) =>
  page.addInitScript(() => {
    const choose = async ({ suggestedName }: { suggestedName: string }) => {
      const folder = await navigator.storage.getDirectory();
      return folder.getFileHandle(suggestedName, { create: true });
    };
    Object.assign(window, { showSaveFilePicker: choose });
  });

/** A browser that cannot write to files. */
const downloadFiles = (page: Page) =>
  page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));

const filesOf = (page: Page) =>
  page.evaluate(async () => {
    const folder = await navigator.storage.getDirectory();
    const found: Record<string, string> = {};
    for await (const handle of folder.values())
      if (handle instanceof FileSystemFileHandle)
        found[handle.name] = await (await handle.getFile()).text();
    return found;
  });

const FAULT = { message: 'Broken.', extensions: { code: 'INTERNAL_ERROR' } };
const BROKEN = `event: next\ndata: ${JSON.stringify({ errors: [FAULT] })}\n\n`;

/** Lets the first parts of an export through, then the end of the response in place of the others. */
const breakExport = (page: Page, events: number, end: string) =>
  page.route('**/graphql/stream', async (route) => {
    if (!route.request().postData()?.includes('"format"')) return route.continue();
    const response = await route.fetch();
    const all = (await response.text()).split('\n\n');
    const parts = all.slice(0, events).map((part) => `${part}\n\n`);
    return route.fulfill({ response, body: `${parts.join('')}${end}` });
  });

declare global {
  interface Window {
    slowFile: {
      /** Rows of the parts that the page has read from the response. */
      sent: number;
      /** The cancelled parts: the response, the file. */
      ended: string[];
      /** Lets the disk take parts. */
      writeParts(count: number): void;
    };
  }
}

/** Runs in the page before its scripts: an export of many runs in small parts, and a disk that waits for the test. */
function slowFile({ rows, rowsOfPart }: { rows: number; rowsOfPart: number }) {
  const waiting: (() => void)[] = [];
  // The disk takes the first part at once.
  let allowed = 1;
  const file = {
    sent: 0,
    ended: [] as string[],
    writeParts(count: number) {
      allowed += count;
      while (allowed > 0 && waiting.length > 0) {
        allowed -= 1;
        waiting.shift()?.();
      }
    },
  };
  window.slowFile = file;
  const writable = {
    async write() {
      if (allowed > 0) allowed -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    close: async () => {},
    async abort() {
      file.ended.push('file');
    },
  };
  const choose = async () => {
    Object.assign(file, { sent: 0, ended: [] });
    allowed = 1;
    return { name: 'slow.csv', createWritable: async () => writable };
  };
  Object.assign(window, { showSaveFilePicker: choose });
  const request = window.fetch;
  const encoder = new TextEncoder();
  window.fetch = async (input, init) => {
    if (typeof init?.body !== 'string' || !init.body.includes('"format"'))
      return request(input, init);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start(controller) {
          init.signal?.addEventListener('abort', () => {
            file.ended.push('response');
            controller.error(init.signal?.reason);
          });
        },
        pull(controller) {
          file.sent += rowsOfPart;
          const done = file.sent >= rows;
          const part = { text: 'x'.repeat(1_000), rows: file.sent, done, truncated: false };
          controller.enqueue(
            encoder.encode(`event: next\ndata: ${JSON.stringify({ data: { part } })}\n\n`),
          );
          if (done) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

describe('the export of runs', () => {
  browserTest('writes the filtered runs to a file as CSV, by keyboard', async () => {
    const { tenant, bot } = await botWithRuns(700);
    const page = await signedIn(tenant.apiKey);
    await chooseFiles(page);
    await page.goto(`/bots/${bot}/runs?status=failed`);
    await page.getByRole('button', { name: 'Export…' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Export runs' });
    await dialog.getByText('failed').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await dialog.getByRole('button', { name: 'Export' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByText(/\.csv has 350 runs, \d+ kB\./).waitFor();
    await assertAccessible(page);
    const [[name, text] = ['', '']] = Object.entries(await filesOf(page));
    expect(name).toMatch(/-runs-\d{4}-\d\d-\d\d\.csv$/);
    const lines = text.split('\r\n');
    expect(lines[0]).toMatch(/^run_id,created_at,/);
    expect(lines.filter((line) => line.startsWith('run_'))).toHaveLength(351);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  browserTest('downloads JSON lines where the browser cannot write to files', async () => {
    const { tenant, bot } = await botWithRuns(450);
    const page = await signedIn(tenant.apiKey);
    await downloadFiles(page);
    await page.goto(`/bots/${bot}/runs`);
    await page.getByRole('button', { name: 'Export…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export runs' });
    await dialog.getByText('All runs of this bot.').waitFor();
    await dialog.getByRole('button', { name: 'JSON lines' }).click();
    const downloading = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Export' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/\.jsonl$/);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
    expect(lines).toHaveLength(450);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ input: 'Question 0', status: 'completed' });
    await dialog.getByText(/\.jsonl has 450 runs/).waitFor();
  });

  browserTest('says why it broke off, and names the file partial', async () => {
    const { tenant, bot } = await botWithRuns(700);
    const page = await signedIn(tenant.apiKey);
    await chooseFiles(page);
    await breakExport(page, 3, BROKEN);
    await page.goto(`/bots/${bot}/runs`);
    await page.getByRole('button', { name: 'Export…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export runs' });
    await dialog.getByRole('button', { name: 'Export' }).click();
    await dialog.getByText('Broken.').waitFor();
    await dialog
      .getByText(/\.partial\.csv is not complete: it has only the first \d+ runs\./)
      .waitFor();
    expect(Object.keys(await filesOf(page))).toEqual([expect.stringMatching(/\.partial\.csv$/)]);
    await assertAccessible(page);
    await page.unroute('**/graphql/stream');
    await dialog.getByRole('button', { name: 'Export again' }).click();
    await dialog.getByRole('button', { name: 'Export' }).click();
    await dialog.getByText(/\.csv has 700 runs/).waitFor();
  });

  for (const [end, name] of [
    ['', 'without its last part'],
    ['event: complete\ndata:\n\n', 'with the event complete too early'],
    ['event: next\ndata: {"data": {"par', 'in the middle of a part'],
  ] as const)
    browserTest(`says that it broke off if the response ends ${name}`, async () => {
      const { tenant, bot } = await botWithRuns(450);
      const page = await signedIn(tenant.apiKey);
      await chooseFiles(page);
      await page.goto(`/bots/${bot}/runs`);
      await page.getByRole('button', { name: 'Export…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Export runs' });
      await breakExport(page, 3, end);
      await dialog.getByRole('button', { name: 'Export' }).click();
      await dialog
        .getByRole('alert')
        .getByText(/is not complete/)
        .waitFor();
      await page.unroute('**/graphql/stream');
      // Not even the first part arrives.
      await breakExport(page, 0, end);
      await dialog.getByRole('button', { name: 'Export again' }).click();
      await dialog.getByRole('button', { name: 'Export' }).click();
      await dialog.getByRole('alert').getByText('No file is left.').waitFor();
    });

  browserTest('reads no faster than the disk writes, and is cancelled in the middle', async () => {
    const { tenant, bot } = await botWithRuns(1);
    const page = await signedIn(tenant.apiKey);
    await page.addInitScript(slowFile, { rows: 50_000, rowsOfPart: 250 });
    await page.goto(`/bots/${bot}/runs`);
    await page.getByRole('button', { name: 'Export…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export runs' });
    await dialog.getByRole('button', { name: 'Export' }).click();
    await dialog.getByText('250 runs written').waitFor();
    // The disk takes the next part only when the test lets it.
    const sent = () => page.evaluate(() => window.slowFile.sent);
    const before = await sent();
    expect(before).toBeLessThan(50_000);
    await page.evaluate(() => window.slowFile.writeParts(100));
    await dialog.getByText(/25,\d{3} runs written/).waitFor();
    expect((await sent()) - before).toBeLessThanOrEqual(26_000);
    await dialog.getByRole('button', { name: 'Cancel the export' }).click();
    await page.evaluate(() => window.slowFile.writeParts(1));
    await dialog.getByText('Cancelled. No file is left.').waitFor();
    expect(await page.evaluate(() => window.slowFile.ended)).toEqual(['response', 'file']);

    await dialog.getByRole('button', { name: 'Export again' }).click();
    await dialog.getByRole('button', { name: 'Export' }).click();
    await dialog.getByText('250 runs written').waitFor();
    await page.evaluate(() => window.slowFile.writeParts(200));
    await dialog.getByText(/slow\.csv has 50,000 runs/).waitFor();
  });

  browserTest('is cancelled without a file, and says why the server refuses it', async () => {
    const { tenant, bot } = await botWithRuns(300);
    const page = await signedIn(tenant.apiKey);
    await chooseFiles(page);
    await page.route('**/graphql/stream', async (route) => {
      // An export that never sends a part.
      if (!route.request().postData()?.includes('"format"')) await route.continue();
    });
    await page.goto(`/bots/${bot}/runs`);
    await page.getByRole('button', { name: 'Export…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export runs' });
    await dialog.getByRole('button', { name: 'Export' }).click();
    await dialog.getByText('0 runs written').waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Cancel the export' }).click();
    await dialog.getByText('Cancelled. No file is left.').waitFor();
    expect(await filesOf(page)).toEqual({});
    await page.unroute('**/graphql/stream');
    await page.route('**/graphql/stream', (route) =>
      route.request().postData()?.includes('"format"')
        ? route.fulfill({
            status: 429,
            json: {
              errors: [
                {
                  message: 'This account already has 2 exports.',
                  extensions: { code: 'RATE_LIMIT_EXCEEDED' },
                },
              ],
            },
          })
        : route.continue(),
    );
    await dialog.getByRole('button', { name: 'Export again' }).click();
    await dialog.getByRole('button', { name: 'Export' }).click();
    await dialog.getByText('This account already has 2 exports.').waitFor();
    await dialog.getByText('No file is left.').waitFor();
  });
});
