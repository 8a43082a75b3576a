import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith, CLOCK } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('the page of a run', () => {
  browserTest('shows the message, the reply, the trace and the events', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('tools time');
    let calls = 0;
    app.upstream.script(({ call, say, end }) => {
      calls += 1;
      if (calls === 1) return call(CLOCK);
      say('It is **noon**.');
      end();
    });
    const response = await tenant.chat(bot, { message: 'What time is it?' });
    const id = response.headers.get('x-run-id');
    const page = await signedIn(tenant.apiKey, `/runs/${id}`);
    const asked = page.getByRole('region', { name: 'Asked' });
    await asked.getByText('What time is it?').waitFor();
    await page
      .getByRole('region', { name: 'Replied' })
      .locator('strong', { hasText: 'noon' })
      .waitFor();
    const facts = page.getByRole('complementary', { name: 'Facts' });
    await facts.getByText('scripted').waitFor();
    await page.getByRole('navigation', { name: 'Main' }).getByText('Playground').waitFor();
    await assertAccessible(page);
    await assertFits(page);

    await page.getByRole('button', { name: /^time.now/ }).click();
    const span = page.getByRole('region', { name: 'Selected step' });
    await span.getByText('Attributes of the span').click();
    await span.getByText('Id of the call').waitFor();
    await expect.poll(() => page.url()).toContain('?span=');
    await page.reload();
    await span.getByText('Attributes of the span').click();
    await span.getByText('Id of the call').waitFor();
    await page.getByRole('button', { name: /^time.now/ }).focus();
    await page.keyboard.press('ArrowDown');
    await span.getByText('Tokens in').waitFor();
    await assertAccessible(page);

    await page.getByRole('button', { name: 'Events' }).click();
    const events = page.getByRole('group', { name: 'Events' }).getByRole('listitem');
    await events.last().getByText('Done').waitFor();
    await expect
      .poll(async () => (await events.allTextContents()).slice(0, 3))
      .toEqual([
        expect.stringMatching(/^1\d\d:\d\d:\d\d\.\d{3}\+0 msRun started/),
        expect.stringMatching(/^2\d\d:\d\d:\d\d\.\d{3}\+[\d.]+ m?sTool startedtime\.now/),
        expect.stringMatching(
          /^3\d\d:\d\d:\d\d\.\d{3}\+[\d.]+ m?sTool finishedtime\.now succeeded/,
        ),
      ]);
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest(
    'shows why the answer ended, its cached tokens and its reasoning tokens',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot();
      app.upstream.script(({ response }) => {
        const usage = {
          prompt_tokens: 1_200,
          completion_tokens: 50,
          prompt_tokens_details: { cached_tokens: 1_024 },
          completion_tokens_details: { reasoning_tokens: 32 },
        };
        const choice = { index: 0, delta: { content: 'Cut' }, finish_reason: 'length' };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify({ choices: [choice], usage })}\n\n`);
      });
      const response = await tenant.chat(bot, { message: 'Hi' });
      const page = await signedIn(tenant.apiKey, `/runs/${response.headers.get('x-run-id')}`);
      const facts = page.getByRole('complementary', { name: 'Facts' });
      await facts.getByText('1,200 in (1,024 cached) · 50 out (32 reasoning)').waitFor();
      const reason = facts.getByRole('definition').filter({ hasText: /^length$/ });
      await reason.waitFor();
      await assertAccessible(page);
      await assertFits(page);
      await page.getByRole('button', { name: /^Model call 1/ }).click();
      const span = page.getByRole('region', { name: 'Selected step' });
      await span.getByText('Attributes of the span').click();
      await span.getByText('Cached tokens in').waitFor();
      await span.getByText('Tokens of reasoning').waitFor();
    },
  );

  browserTest('shows the model server’s reason of a failed run, and each attempt', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('model "large-1" { fallback "small-1" }');
    app.upstream.script(({ request, response }) => {
      const status = request.body.model === 'large-1' ? 404 : 400;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `No room for ${request.body.model}.` } }));
    });
    const response = await tenant.chat(bot, { message: 'Hi' });
    const page = await signedIn(tenant.apiKey, `/runs/${response.headers.get('x-run-id')}`);
    await page.getByText('HTTP 400: No room for small-1.').waitFor();
    await page.getByRole('button', { name: /^Model call 1/ }).waitFor();
    await page.getByRole('button', { name: /^Model call 2/ }).waitFor();
    const step = page.getByRole('region', { name: 'Selected step' });
    await step.getByText('large-1').first().waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('shows the times of 5,000 events, and none of an old run', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const count = 5_000;
    const createdAt = new Date('2026-01-02T03:04:05.006Z');
    const run = { createdAt, response: 'x'.repeat(count) };
    const made = await makeRuns(app, bot, [run, run]);
    const [timed = '', old = ''] = made.map(({ id }) => id);
    const deltas = Array.from({ length: count }, (_, index) => index + 1);
    const events = [{ type: 'RunStarted', runId: timed, sessionId: null }, ...deltas];
    const finishedAt = new Date(createdAt.getTime() + 50_500);
    const data = { startedAt: createdAt, finishedAt, events };
    const eventTimes = [0, ...deltas.map((index) => index * 10)];
    await app.prisma.run.update({ where: { id: timed }, data: { ...data, eventTimes } });
    await app.prisma.run.update({ where: { id: old }, data });

    const page = await signedIn(tenant.apiKey, `/runs/${timed}?tab=events`);
    const list = page.getByRole('group', { name: 'Events' });
    const [first, last] = [list.getByRole('listitem').first(), list.getByRole('listitem').last()];
    await first.getByText('+0 ms').waitFor();
    await expect
      .poll(() => first.getByRole('time').getAttribute('title'))
      .toBe('2026-01-02 03:04:05.006 UTC');
    await list.focus();
    // The events arrive in parts, and each part makes the list longer.
    await expect
      .poll(async () => {
        await page.keyboard.press('End');
        return last.textContent();
      })
      .toContain('+50.5 s');
    await expect
      .poll(() => last.getByRole('time').getAttribute('title'))
      .toBe('2026-01-02 03:04:55.506 UTC');
    await expect.poll(() => list.getByRole('listitem').count()).toBeLessThan(100);

    await page.goto(`/runs/${old}?tab=events`);
    await first.getByText('Run started').waitFor();
    await expect.poll(() => list.getByRole('time').count()).toBe(0);
    await expect.poll(() => list.getByText('+').count()).toBe(0);
  });

  browserTest('asks again in the playground with the same message', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const [run] = await makeRuns(app, bot, [{ input: 'Where is my order?', sessionId: 'ada' }]);
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
    await page.getByText('No spans are stored for this run.').waitFor();
    await page.getByRole('button', { name: 'Ask again' }).click();
    await expect.poll(() => page.getByLabel('Message').inputValue()).toBe('Where is my order?');
    await expect.poll(() => page.url()).toMatch(/playground\?session_id=console-/);
    answerWith(app, 'It is on its way.');
    await page.getByLabel('Message').press('Enter');
    await page.getByText('It is on its way.').waitFor();
  });

  browserTest(
    'hands the context over too, while it is stored, and says when it is not',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot();
      const response = await tenant.chat(bot, { message: 'Hi', context: { plan: 'pro' } });
      const id = response.headers.get('x-run-id') ?? '';
      const page = await signedIn(tenant.apiKey, `/runs/${id}`);
      await page.getByRole('region', { name: 'Context' }).getByText('"plan": "pro"').waitFor();
      await assertAccessible(page);
      await page.getByRole('button', { name: 'Ask again' }).click();
      await page.getByRole('button', { name: /^context/ }).click();
      await expect
        .poll(async () => JSON.parse(await page.getByLabel('Context').inputValue()))
        .toEqual({ plan: 'pro' });
      await app.prisma.runPrompt.delete({ where: { runId: id } });
      await page.goto(`/runs/${id}`);
      await page
        .getByText('The request had a context of one key, which is no longer stored.')
        .waitFor();
    },
  );

  browserTest(
    'leads to the runs around it in the list with its filters, also by J and K',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot(null);
      const now = Date.now();
      const runs = await makeRuns(
        app,
        bot,
        Array.from({ length: 6 }, (_, at) => ({
          input: `Question ${at}`,
          sessionId: at % 2 ? 'bob' : 'ada',
          createdAt: new Date(now - at * 1_000),
        })),
      );
      const list = `/bots/${bot}/runs?user=ada&range=24h`;
      const page = await signedIn(tenant.apiKey, list);
      await page.getByRole('link', { name: 'Question 2' }).focus();
      await page.keyboard.press('Enter');
      const asked = (text: string) =>
        page.getByRole('region', { name: 'Asked' }).getByText(text).waitFor();
      await asked('Question 2');
      await expect.poll(() => page.url()).toBe(`${app.url}/runs/${runs[2]?.id}?user=ada&range=24h`);
      await page.getByRole('button', { name: 'Older run (J)' }).click();
      await asked('Question 4');
      await page.getByTitle('There is no older run.').waitFor();
      await assertAccessible(page);
      await assertFits(page);
      await page.keyboard.press('k');
      await asked('Question 2');
      // The key does nothing before the neighbours are known.
      await expect
        .poll(async () => {
          await page.keyboard.press('k');
          return page.url();
        })
        .toBe(`${app.url}/runs/${runs[0]?.id}?user=ada&range=24h`);
      await asked('Question 0');
      await page.getByTitle('There is no newer run.').waitFor();
      await page.reload();
      await asked('Question 0');
      await page.goBack();
      await expect.poll(() => page.url()).toBe(app.url + list);
    },
  );

  browserTest('follows a run while it is active, and cancels it', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    app.upstream.script(async ({ say, closed }) => {
      say('A long story begins');
      await closed;
    });
    const answer = tenant.chat(bot, { message: 'Tell me a story.' });
    const started = () => app.prisma.run.findFirst({ where: { botId: bot, status: 'RUNNING' } });
    await expect.poll(started).not.toBeNull();
    const run = await started();
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
    await page.getByText('A long story begins').waitFor();
    await page.getByRole('button', { name: /Model call 1.* running/ }).waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByText('cancelled', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /Load history/ }).waitFor();
    await answer;
  });

  browserTest('keeps a run that is deleted while it is open', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const error = { status: 'FAILED', errorCode: 'model_timeout' } as const;
    const [run] = await makeRuns(app, bot, [{ ...error, input: 'Are you there?' }]);
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
    await page.getByText('model_timeout').waitFor();
    await app.prisma.run.delete({ where: { id: run?.id ?? '' } });
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('This run was deleted while it was open.').waitFor();
    await page.getByText('Are you there?').waitFor();
    await assertAccessible(page);
    await page.reload();
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
    await assertAccessible(page);
  });

  browserTest('shows nothing of another account, nor to a key without the scope', async () => {
    const [tenant, other] = [await app.tenant(), await app.tenant()];
    const bot = await other.bot(null);
    const [run] = await makeRuns(app, bot, [{ input: 'A secret' }]);
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
    expect(await page.content()).not.toContain('A secret');
    const key = await other.key({ scopes: ['CHAT'] });
    const limited = await signedIn(key, `/runs/${run?.id}`);
    await limited.getByText('Your key lacks the scope runs.').waitFor();
    expect(await limited.content()).not.toContain('A secret');
  });

  browserTest('draws thousands of spans, also without parents and with clock steps', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{ latencyMs: 5_000, response: 'Done' }]);
    const idOf = (number: number) => number.toString(16).padStart(16, '0');
    const spans = Array.from({ length: 5_000 }, (_, number) => ({
      spanId: idOf(number),
      parentId: number === 0 ? null : number % 7 === 0 ? 'ffffffffffffffff' : idOf(number - 1),
      name: number % 5 === 0 ? 'execute_tool orders.lookup' : 'chat scripted',
      startedAt: 1_790_000_000_000 + number,
      durationMs: number % 11 === 0 ? -3 : 5,
      status: number === 4_999 ? 'error' : 'unset',
      attributes: { 'error.type': 'timeout' },
    }));
    await app.prisma.run.update({
      where: { id: run?.id ?? '' },
      data: { spans, finishedAt: new Date() },
    });
    const last = idOf(4_999);
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}?span=${last}`);
    const trace = page.getByRole('list', { name: 'Trace of 5,000 spans' });
    await trace.getByRole('button', { pressed: true }).waitFor();
    await expect.poll(() => trace.getByRole('listitem').count()).toBeLessThan(60);
    const step = page.getByRole('region', { name: 'Selected step' });
    await step.getByText('failed', { exact: true }).first().waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('shows a failure with the id of the request, and tries again', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{ input: 'x'.repeat(30_000) }]);
    const page = await signedIn(tenant.apiKey, '/bots');
    await page.getByTitle(`Copy ${bot}`).waitFor();
    await page.route('**/graphql', (route) =>
      route.fulfill({
        headers: { 'x-request-id': 'req_broken' },
        json: { errors: [{ message: 'Broken.', extensions: { code: 'INTERNAL_ERROR' } }] },
      }),
    );
    await page.evaluate((path) => history.pushState(null, '', path), `/runs/${run?.id}`);
    await page.getByTitle('Copy req_broken').waitFor();
    await assertAccessible(page);
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Show all 30,000 characters' }).click();
    await expect
      .poll(async () => (await page.getByRole('region', { name: 'Asked' }).textContent())?.length)
      .toBeGreaterThan(30_000);
  });
});
