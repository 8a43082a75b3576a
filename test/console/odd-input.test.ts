import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith, ask, CLOCK, lastAsked, pathOf } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('a context', () => {
  browserTest('of 1 MB is sent, and its code is shown in part', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "Notes: {{ context.notes }}."');
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?tab=code'));
    await page.getByRole('button', { name: 'context' }).click();
    const notes = 'ab '.repeat(333_000);
    await page.getByLabel('Context', { exact: true }).fill(JSON.stringify({ notes }));
    await page.getByRole('button', { name: /context \{"notes":"ab/ }).waitFor();
    // The browser needs seconds to lay out a megabyte, after each key press.
    await page.getByText(/ more characters are not shown/).waitFor();
    expect((await page.locator('body').innerText()).length).toBeLessThan(50_000);
    answerWith(app, 'I have read it.');
    await ask(page, 'Summarise the notes');
    await page.getByText('I have read it.').waitFor();
    expect(lastAsked(app)[0]?.content).toContain(notes.trim());
    await page.getByRole('tab', { name: 'Request' }).click();
    await assertFits(page);
  });

  browserTest('that is larger than a request may be is refused with the limit', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    await page.getByRole('button', { name: 'context' }).click();
    const context = page.getByLabel('Context', { exact: true });
    await context.fill(JSON.stringify({ notes: 'x'.repeat(1024 * 1024) }));
    await page.getByRole('button', { name: /context \{"notes":"x/ }).waitFor();
    await ask(page, 'Hi');
    const problem = page.getByRole('alert').filter({ hasText: 'The body is larger than 1 MiB.' });
    await problem.getByText('request_too_large').waitFor();
    expect(await context.evaluate((input: HTMLTextAreaElement) => input.value.length)).toBe(
      1024 * 1024 + 12,
    );
    await context.fill('{"notes": "short"}');
    answerWith(app, 'That fits.');
    await problem.getByRole('button', { name: 'Send again' }).waitFor();
    await ask(page, 'Again');
    await page.getByText('That fits.').waitFor();
  });
});

browserTest('a sign-out in one tab asks the other to sign in, and keeps its text', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  const page = await signedIn(tenant.apiKey, pathOf(bot));
  const other = await page.context().newPage();
  await other.goto('/bots');
  await page.getByLabel('Message').fill('Not yet sent');
  await other.getByRole('button', { name: /^Account Tenant/ }).click();
  await other.getByRole('menuitem', { name: 'Sign out' }).click();
  await other.getByLabel('API key').waitFor();
  await page.getByLabel('Message').press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('API key').fill(tenant.apiKey);
  await assertAccessible(page);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => page.getByLabel('Message').inputValue()).toBe('Not yet sent');
  answerWith(app, 'Welcome back.');
  await page.getByLabel('Message').press('Enter');
  await page.getByText('Welcome back.').waitFor();
});

browserTest('a session id of invalid UTF-16 is refused with the rule', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions`);
  const finder = page.getByRole('searchbox', { name: 'Open the session of a user' });
  await finder.evaluate((field: HTMLInputElement) => {
    // React notes what it sets itself, so the value is set past it, as typing does.
    const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
    value?.set?.call(field, 'user-\ud800');
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
  await finder.press('Enter');
  await page.getByText('A session id has 1 to 256 visible characters').waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe('');
  await assertAccessible(page);
});

describe('an address', () => {
  browserTest("with another account's bot shows that there is no such bot", async () => {
    const owner = await app.tenant();
    const bot = await owner.bot('prompt "The secret of the owner."');
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey);
    for (const screen of ['playground', 'runs', 'sessions', 'deployments', 'studio', 'start']) {
      await page.goto(`/bots/${bot}/${screen}`);
      await page.getByRole('heading', { name: 'There is no such bot' }).waitFor();
      await expect.poll(() => page.getByText('The secret of the owner').count()).toBe(0);
      await assertAccessible(page);
    }
    await page.getByRole('link', { name: 'Go to your bots' }).click();
    await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
  });

  browserTest("with another account's run shows that there is no such run", async () => {
    const owner = await app.tenant();
    const [run] = await makeRuns(app, await owner.bot(null), [{ input: 'Secret question' }]);
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
    await expect.poll(() => page.getByText('Secret question').count()).toBe(0);
    await page.getByRole('link', { name: 'Go to your bots' }).waitFor();
  });
});

browserTest('the id of a run is copied whole by a click', async () => {
  const tenant = await app.tenant();
  const [run] = await makeRuns(app, await tenant.bot(null), [{ input: 'Hi' }]);
  const page = await signedIn(tenant.apiKey, `/runs/${run?.id}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const button = page.getByTitle(`Copy ${run?.id}`).first();
  await button.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(run?.id);
});

browserTest('a definition whose name and texts contain HTML is shown as text', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot(null);
  const name = '<img src=x onerror=alert(1)><b>Desk</b>';
  const source = `agentlang 5\nagent "${name}" {\n  description "<i>Sells</i> things"\n  prompt "You are <u>brief</u>."\n  tools time\n}\n`;
  const { data } = await tenant.graphql(
    'mutation ($id: ID!, $source: String!) { deploy(botId: $id, input: { source: $source, message: "<s>old</s>" }) { id status } }',
    { id: bot, source },
  );
  expect(data.deploy.status).not.toBe('FAILED');
  let rounds = 0;
  app.upstream.script(({ call, say, end }) => {
    rounds += 1;
    if (rounds === 1) return call(CLOCK);
    say('Done.');
    end();
  });
  const response = await tenant.chat(bot, { message: '<b>Hi</b>' });
  const page = await signedIn(tenant.apiKey, `/runs/${response.headers.get('x-run-id')}`);
  const assertNoElements = async () =>
    await expect.poll(() => page.locator('main').locator('img, b, i, u, s').count()).toBe(0);
  await page.getByText(name).first().waitFor();
  await assertNoElements();
  for (const [path, text] of [
    [`/bots/${bot}/deployments`, '<s>old</s>'],
    [`/bots/${bot}/deployments/${data.deploy.id}`, name],
    [`/bots/${bot}/studio?panel=outline`, name],
    ['/bots', '<s>old</s>'],
  ] as const) {
    await page.goto(path);
    await page.getByText(text).first().waitFor();
    await assertNoElements();
  }
});

browserTest(
  '200 tool calls in one conversation stay readable, from right to left too',
  async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('tools time\n  limits { tool_calls 64 }');
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?session_id=calls&tab=trace'));
    for (const [at, calls] of [64, 64, 64, 8].entries()) {
      let rounds = 0;
      app.upstream.script(({ say, call, end }) => {
        rounds += 1;
        if (rounds === 1) return call(...Array.from({ length: calls }, () => CLOCK));
        say(`תשובה ${at + 1}: השעה נבדקה.`);
        end();
      });
      await ask(page, `בדוק את השעה ${at + 1}`);
      await page.getByText(`תשובה ${at + 1}:`).waitFor();
      await expect.poll(() => page.getByText(/first text after .* tokens/).count()).toBe(at + 1);
    }
    const conversation = page.getByRole('region', { name: 'Conversation' });
    await expect.poll(() => conversation.getByText('64 tool calls').count()).toBe(3);
    await expect
      .poll(() => conversation.getByText('8 tool calls', { exact: true }).count())
      .toBe(1);
    for (const summary of await conversation.getByText(/^\d+ tool calls$/).all())
      await summary.click();
    const chips = conversation.getByRole('list', { name: 'Tool calls' }).getByRole('listitem');
    await expect.poll(() => chips.count()).toBe(200);
    const directions = await conversation
      .locator('.turn-message, .turn-reply .markdown p')
      .evaluateAll((texts) => texts.map((text) => getComputedStyle(text).direction));
    expect(new Set(directions)).toEqual(new Set(['rtl']));
    await assertFits(page);
    await assertAccessible(page);
    await page.reload();
    await page.getByText('תשובה 4:').waitFor();
    const earlier = conversation.getByRole('button', { name: 'Show earlier messages' });
    // 212 messages, of which one page has 50.
    for (let pages = 1; pages < 5; pages += 1) {
      const read = page.waitForResponse((response) => response.url().endsWith('/graphql'));
      await earlier.click();
      await read;
    }
    await expect.poll(() => earlier.count()).toBe(0);
    await expect.poll(() => conversation.getByText('64 tool calls').count()).toBe(3);
    await assertFits(page);
    await assertAccessible(page);
  },
);

browserTest(
  'a pasted name of 10,000 characters stays whole, and its error names the bound',
  async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey);
    await page.getByRole('button', { name: 'Actions for Bot' }).click();
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rename Bot' });
    const field = dialog.getByLabel('Name');
    await field.press('ControlOrMeta+a');
    await page.keyboard.insertText('x'.repeat(10_000));
    await dialog.getByText('At most 200 characters. This text has 10,000.').waitFor();
    await expect.poll(() => field.inputValue()).toBe('x'.repeat(10_000));
    await assertAccessible(page);
    await assertFits(page);
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await expect.poll(() => field.evaluate((input) => input.matches(':focus'))).toBe(true);
    expect(await app.prisma.bot.findUniqueOrThrow({ where: { id: bot } })).toMatchObject({
      name: 'Bot',
    });
    await field.fill('Night desk');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.waitFor({ state: 'detached' });
  },
);
