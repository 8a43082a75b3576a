import type { Route } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { DeploymentSource } from '../../src/generated/operations/console.ts';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { deploy } from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith, ask, CLOCK, lastAsked, pathOf } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('the parameters of a message', () => {
  browserTest('reach the model, after the errors in the typed context are corrected', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "Plan: {{ context.plan }}. City: {{ context.city }}."');
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    await page.getByRole('button', { name: 'context' }).click();
    const context = page.getByLabel('Context', { exact: true });
    await context.fill('{\n  "plan": "pro",\n  oops\n}');
    await page.getByRole('button', { name: /^Line 3, column 3: / }).click();
    await expect
      .poll(() => context.evaluate((input: HTMLTextAreaElement) => input.selectionStart))
      .toBe(21);
    await expect.poll(() => context.inputValue()).toBe('{\n  "plan": "pro",\n  oops\n}');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await expect.poll(() => send.getAttribute('title')).toBe('Correct the context first.');
    await assertAccessible(page);
    await context.fill('[1]');
    await page.getByText('The context must be an object').waitFor();
    await context.fill('{"plan": "pro"}');
    await page.getByRole('button', { name: 'Add city' }).click();
    await expect
      .poll(async () => JSON.parse(await context.inputValue()))
      .toEqual({ plan: 'pro', city: '' });
    await context.fill('{"plan": "pro", "city": "Łódź"}');
    await ask(page, 'Hi');
    await page.getByText(/first text after/).waitFor();
    expect(lastAsked(app)[0]?.content).toContain('Plan: pro. City: Łódź.');
    await assertFits(page);
  });

  browserTest('are in the address, which also restores the stored messages', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('tools time');
    const page = await signedIn(
      tenant.apiKey,
      pathOf(bot, '?session_id=user-42&tab=code&on_busy=reject'),
    );
    let rounds = 0;
    app.upstream.script(({ say, call, end }) => {
      rounds += 1;
      if (rounds === 1) return call(CLOCK);
      say('It is late.');
      end();
    });
    await ask(page, 'What time is it?');
    await page.getByText('It is late.').waitFor();
    await page.getByText(/first text after .* tokens/).waitFor();
    await page.getByText('X-On-Busy: reject').waitFor();
    await page.reload();
    await page.getByText('It is late.').waitFor();
    await page.getByText('What time is it?').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'time.now' }).first().waitFor();
    await expect.poll(() => page.getByLabel('Session id').inputValue()).toBe('user-42');
    await expect.poll(() => page.getByRole('tab', { selected: true }).textContent()).toBe('Code');
    await page.getByLabel('Session id').fill('user-43-👋');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('session_id')).toBe('user-43-👋');
    await page.getByRole('button', { name: 'New session' }).click();
    await expect.poll(() => page.getByLabel('Session id').inputValue()).toMatch(/^console-\w{8}$/);
  });

  browserTest('name the inspected reply, also after a reload', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?session_id=user-42&tab=trace'));
    for (const [at, reply] of ['The first reply.', 'The second reply.'].entries()) {
      answerWith(app, reply);
      await ask(page, `Question ${at}`);
      await page.getByText(reply).waitFor();
      await expect.poll(() => page.getByText(/first text after .* tokens/).count()).toBe(at + 1);
    }
    const inspect = page.getByRole('button', { name: 'Inspect', exact: true });
    await inspect.first().click();
    const { id } = await app.prisma.run.findFirstOrThrow({
      where: { botId: bot },
      orderBy: { createdAt: 'asc' },
    });
    await expect.poll(() => new URL(page.url()).searchParams.get('run')).toBe(id);
    await page.reload();
    await page.getByText('The second reply.').waitFor();
    await page.getByText('Load history').waitFor();
    await expect.poll(() => inspect.first().getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('complementary').getByTitle(`Copy ${id}`).waitFor();
  });

  browserTest('of another session are a step of the history', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey);
    await page.goto(pathOf(bot));
    const session = page.getByLabel('Session id');
    await expect.poll(() => session.inputValue()).toMatch(/^console-/);
    const first = await session.inputValue();
    answerWith(app, 'The first reply.');
    await ask(page, 'Hi');
    await page.getByText(/first text after .* tokens/).waitFor();
    await page.getByRole('button', { name: 'New session' }).click();
    await expect.poll(() => session.inputValue()).not.toBe(first);
    const second = await session.inputValue();
    answerWith(app, 'The second reply.');
    await ask(page, 'Hi');
    await page.getByText(/first text after .* tokens/).waitFor();
    await session.fill('user-42');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    await page.goBack();
    await page.getByText('The second reply.').waitFor();
    await expect.poll(() => session.inputValue()).toBe(second);
    await page.goBack();
    await page.getByText('The first reply.').waitFor();
    await expect.poll(() => session.inputValue()).toBe(first);
    await page.goBack();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/bots');
  });

  browserTest('make a request idempotent, and its reply unstreamed', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?stream=false'));
    await page.getByRole('button', { name: 'whole' }).click();
    await page.getByLabel('Idempotency key').fill('ключ');
    await page.getByText('A key has only visible ASCII characters.').waitFor();
    await page.getByRole('button', { name: 'New key' }).click();
    answerWith(app, 'The first reply.');
    await ask(page, 'Once');
    await page.getByText('The first reply.').waitFor();
    answerWith(app, 'Another reply.');
    await ask(page, 'Once');
    await expect.poll(() => page.getByText('The first reply.').count()).toBe(2);
    await ask(page, 'Something else');
    await page.getByText('idempotency_conflict').waitFor();
    await assertAccessible(page);
  });

  browserTest('are suggested from the definition of the selected environment only', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "Plan: {{ context.plan }}."');
    const source = agent('prompt "City: {{ context.city }}."');
    await deploy(tenant, bot, { source, environment: 'STAGING' });
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    await page.getByRole('button', { name: 'context' }).click();
    const suggested = page.getByRole('button', { name: /^Add / });
    await expect.poll(() => suggested.allTextContents()).toEqual(['plan']);
    const held = Promise.withResolvers<Route>();
    await page.route('**/graphql', (route) => {
      if (route.request().postData()?.includes(DeploymentSource.documentId)) held.resolve(route);
      else void route.continue();
    });
    await page.getByRole('button', { name: 'Staging', exact: true }).click();
    const request = await held.promise;
    await expect.poll(() => suggested.count()).toBe(0);
    await request.continue();
    await expect.poll(() => suggested.allTextContents()).toEqual(['city']);
  });
});
