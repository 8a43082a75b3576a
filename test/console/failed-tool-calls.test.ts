import { beforeAll, expect } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
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

/** Stores failed tool calls, and one that completed. */
const storeCalls = (runId: string, failed: number) =>
  app.prisma.toolCall.createMany({
    data: Array.from({ length: failed + 1 }, (_, position) => ({
      id: makeId('tcl'),
      runId,
      position,
      callId: `call_${position}`,
      name: 'orders.refund',
      digest: 'd',
      status: position < failed ? ('FAILED' as const) : ('COMPLETED' as const),
      startedAt: new Date(),
    })),
  });

browserTest('the lists of runs and sessions say that tool calls failed', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot(null);
  const sessionId = 'ada';
  const at = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const [old, last] = await makeRuns(app, bot, [
    { sessionId, createdAt: at(60), input: 'The first question', status: 'FAILED' },
    {
      sessionId,
      createdAt: at(30),
      input: 'Refund my order',
      response: 'It was paid already.',
      promptTokens: 1_200,
      completionTokens: 34,
    },
  ]);
  await storeCalls(old?.id ?? '', 1);
  await storeCalls(last?.id ?? '', 2);
  await app.prisma.session.create({
    data: { id: makeId('ses'), botId: bot, environment: 'PRODUCTION', sessionId },
  });
  const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs`);
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('Refund my order').getByText('2 tool calls failed').waitFor();
  await row('Refund my order').getByText('completed').waitFor();
  await row('The first question').getByText('1 tool call failed').waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 360, height: 780 });
  expect(await row('Refund my order').getByText('2 tool calls failed').isVisible()).toBe(true);
  await page.setViewportSize({ width: 1440, height: 900 });

  await page.goto(`/bots/${bot}/sessions`);
  const session = page.getByRole('link', { name: /^ada/ });
  for (const text of [
    'Refund my order',
    'It was paid already.',
    'completed',
    '2 tool calls failed',
    '1,234 tokens',
  ])
    await session.getByText(text).waitFor();
  await assertAccessible(page);
  await assertFits(page);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Tokens of the last run' }).click();
  await page.reload();
  await session.getByText('completed').waitFor();
  expect(await session.getByText('1,234 tokens').count()).toBe(0);
});

browserTest(
  'the lists say that tool calls failed beside long texts on a narrow window',
  async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "Hi."');
    const sessionId = 'u'.repeat(256);
    const [run] = await makeRuns(app, bot, [
      {
        sessionId,
        createdAt: new Date(Date.now() - 30_000),
        input: 'Q'.repeat(4_000),
        response: 'The order was paid already. '.repeat(40),
      },
    ]);
    const id = run?.id ?? '';
    await storeCalls(id, 128);
    await app.prisma.toolCall.updateMany({
      where: { runId: id, status: 'FAILED' },
      data: { result: `Error: ${'x'.repeat(3_000)}` },
    });
    await app.prisma.session.create({
      data: { id: makeId('ses'), botId: bot, environment: 'PRODUCTION', sessionId },
    });
    const page = await signedIn(tenant.apiKey);
    await page.setViewportSize({ width: 360, height: 780 });
    for (const path of ['/runs', '/sessions', '']) {
      await page.goto(`/bots/${bot}${path}`);
      const said = page.getByText('128 tool calls failed');
      await said.scrollIntoViewIfNeeded();
      const place = await said.evaluate((word) => {
        const failed = word.closest('.status') ?? word;
        const { left, right, top, bottom } = failed.getBoundingClientRect();
        const next = failed.nextElementSibling?.getBoundingClientRect();
        const isCovered = next && next.left < right && next.top < bottom && next.bottom > top;
        return {
          isCut: word.scrollWidth > word.clientWidth,
          isCovered: isCovered ?? false,
          left,
          right,
        };
      });
      expect(place, path).toMatchObject({ isCut: false, isCovered: false });
      expect(place.left, path).toBeGreaterThanOrEqual(0);
      expect(place.right, path).toBeLessThanOrEqual(360);
      await assertAccessible(page);
      await assertFits(page);
    }
    await page.goto(`/runs/${id}`);
    const step = page.getByRole('region', { name: 'Selected step' });
    await step.getByRole('heading', { name: 'Error' }).waitFor();
    await assertAccessible(page);
    await assertFits(page);
  },
);

browserTest(
  'the head of a run beside the list keeps the failed tool calls on one line',
  async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{ input: 'Refund my order', response: 'No.' }]);
    const id = run?.id ?? '';
    const spans = [1, 2].map((number) => ({
      spanId: `${number}`.padStart(16, '0'),
      parentId: null,
      name: 'execute_tool orders.refund',
      startedAt: 1_790_000_000_000 + number,
      durationMs: 5,
      status: 'error',
      attributes: { 'error.type': 'timeout' },
    }));
    await app.prisma.run.update({ where: { id }, data: { spans, finishedAt: new Date() } });
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/runs?run=${id}`);
    await page.setViewportSize({ width: 1280, height: 800 });
    const head = page.getByRole('region', { name: 'Open run' }).locator('header');
    const failed = head.getByText('2 tool calls failed');
    await failed.waitFor();
    const boxes = [head.getByText('completed'), failed].map((one) => one.boundingBox());
    const [left, right] = await Promise.all(boxes);
    expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThan(right?.x ?? 0);
    expect(right?.height).toBeLessThan(30);
    await assertAccessible(page);
  },
);
