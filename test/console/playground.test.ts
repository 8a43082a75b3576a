import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits } from './page.ts';
import {
  answerWith,
  ask,
  askForStory,
  CLOCK,
  lastAsked,
  pathOf,
  refuseAll,
} from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** Whether an element is in the visible part of the conversation. */
const isInSight = (element: Element) => {
  const { top, bottom } = element.getBoundingClientRect();
  const view = element.closest('.conversation-scroll')?.getBoundingClientRect();
  return view !== undefined && top < view.bottom && bottom > view.top;
};

const MARKDOWN = `## Orders

Order **A-1042** is *late*, see [the page](https://shop.example/a?x=1&amp;y=2) or [this](javascript:alert(1)).

| Order | Price |
| --- | ---: |
| A-1042 | 12 &euro; |

\`\`\`sh
curl https://shop.example
\`\`\`

![A map](https://tracker.example/pixel.png) <img src="https://tracker.example/x.png" onerror="alert(1)">

<script>alert(2)</script>

1. one
2. two`;

describe('a reply in the playground', () => {
  browserTest('shows the welcome of the chat page in each environment', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const source = agent('channel web { welcome "Ahoy, staging!" suggestions "Where is it?" }');
    await tenant.graphql(
      'mutation ($bot: ID!, $input: DeployInput!) { deploy(botId: $bot, input: $input) { id } }',
      { bot, input: { source, environment: 'STAGING' } },
    );
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?environment=staging'));
    await page.getByText('Ahoy, staging!').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Production', exact: true }).click();
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    await page.getByRole('button', { name: 'Staging', exact: true }).click();
    await page.getByLabel('Message', { exact: true }).fill('Not sent yet');
    await page.getByRole('button', { name: 'Where is it?' }).click();
    await page.getByRole('region', { name: 'Conversation' }).getByText('Where is it?').waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('Not sent yet');
  });

  browserTest('is rendered as Markdown, and its HTML as text', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    answerWith(app, MARKDOWN);
    await ask(page, 'Hi');
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    await page.getByText(/first text after .* tokens/).waitFor();
    const reply = page.locator('.turn-reply');
    await reply.getByRole('cell', { name: '12 €' }).waitFor();
    const link = reply.getByRole('link', { name: 'the page' });
    await expect.poll(() => link.getAttribute('href')).toBe('https://shop.example/a?x=1&y=2');
    await expect.poll(() => link.getAttribute('rel')).toContain('noopener');
    await expect.poll(() => reply.locator('.markdown').getByRole('link').count()).toBe(2);
    await expect.poll(() => reply.locator('img, script').count()).toBe(0);
    await reply.getByText('<script>alert(2)</script>').waitFor();
    await reply.getByText('onerror="alert(1)"').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await reply.locator('.code-block').getByRole('button', { name: 'Copy' }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe('curl https://shop.example');
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('stays readable with 64 tool calls, 100 kB and text from right to left', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('tools time\n  limits { tool_calls 64 }');
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?tab=response'));
    let rounds = 0;
    app.upstream.script(({ say, call, end }) => {
      rounds += 1;
      if (rounds === 1) return call(...Array.from({ length: 64 }, () => CLOCK));
      say('שלום, זו תשובה ארוכה.\n\n');
      for (let at = 0; at < 2_000; at += 1)
        say(`Paragraph ${at} has about fifty characters in it.\n\n`);
      end();
    });
    await ask(page, 'Tell me everything');
    await page.getByText(/first text after .* tokens/).waitFor();
    await page.getByText('64 tool calls').waitFor();
    await page.locator('.turn-reply').getByText('Paragraph 1999 has').waitFor();
    const hebrew = page.locator('.turn-reply p').first();
    expect(await hebrew.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
    // The page contains only the visible frames.
    await page.getByText(/^2,\d{3} frames$/).waitFor();
    await expect.poll(() => page.locator('.frame-row').count()).toBeLessThan(100);
    await page.getByRole('tab', { name: 'Trace' }).click();
    await page.getByText('Model call 2').last().waitFor();
    await expect.poll(() => page.locator('.span-tool').count()).toBe(64);
  });

  browserTest('that is an object is shown as JSON, with unchanged numbers', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('output { city string "A city" }');
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    answerWith(app, '{"city":"*Oslo* _and_ more"}');
    await ask(page, 'Where?');
    await page.locator('.turn-reply pre').getByText('"city": "*Oslo* _and_ more"').waitFor();
  });

  browserTest('follows 1,000 earlier messages, which load on demand', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    await tenant.chat(bot, { message: 'Question 0' }, { 'X-Session-ID': 'user-1' });
    const { id: sessionKey } = await app.prisma.session.findFirstOrThrow({
      where: { botId: bot },
    });
    const runs = await makeRuns(
      app,
      bot,
      Array.from({ length: 500 }, () => ({ sessionId: 'user-1' })),
    );
    await app.prisma.message.createMany({
      data: runs.flatMap(({ id: runId }, at) =>
        (['USER', 'ASSISTANT'] as const).map((role, position) => ({
          id: makeId('msg'),
          sessionKey,
          runId,
          turn: at + 2,
          position,
          role,
          text: `${role === 'USER' ? 'Question' : 'Answer'} ${at + 1}`,
        })),
      ),
    });
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?session_id=user-1'));
    await page.getByText('Answer 500').waitFor();
    await expect.poll(() => page.locator('.turn').count()).toBe(25);
    const more = page.getByRole('button', { name: 'Show earlier messages' });
    await more.click();
    await page.getByText('Answer 451', { exact: true }).waitFor();
    await expect.poll(() => page.locator('.turn').count()).toBe(50);
    // The turn that was at the top is still visible.
    await expect
      .poll(() => page.getByText('Answer 476', { exact: true }).evaluate(isInSight))
      .toBe(true);
    answerWith(app, 'Hello there.');
    await ask(page, 'Question 501');
    await page.getByText('Hello there.').waitFor();
    await expect
      .poll(() => page.locator('.turn-message', { hasText: 'Question 501' }).evaluate(isInSight))
      .toBe(true);
  });

  browserTest('can be stopped, sent again, and edited and sent again', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    await askForStory(app, page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/stopped · first text/).waitFor();
    answerWith(app, 'The end.');
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    await page.getByText('The end.').waitFor();
    await page.getByText(/^completed · first text after .* tokens/).waitFor();
    await page.getByRole('button', { name: 'Edit and send again' }).last().click();
    await expect.poll(() => page.getByLabel('Message').inputValue()).toBe('Tell me a story');
    await page.getByLabel('Message').and(page.locator(':focus')).waitFor();
    answerWith(app, 'A short one.');
    await page.keyboard.type(' of cats');
    await page.keyboard.press('Enter');
    await page.getByText('A short one.').waitFor();
    expect(lastAsked(app).at(-1)?.content).toBe('Tell me a story of cats');
  });

  browserTest('that fails shows the error, with the ids for the log', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    refuseAll(app);
    await ask(page, 'Hi');
    const problem = page.getByRole('alert').filter({ hasText: 'model_error' });
    await problem.getByTitle(/^Copy run_/).waitFor();
    await assertAccessible(page);
    answerWith(app, 'Now it works.');
    await problem.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Now it works.').waitFor();
  });
});

describe('a message that is sent again', () => {
  browserTest('needs what the composer needs', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    answerWith(app, 'Hello there.');
    await tenant.chat(bot, { message: 'Hi' }, { 'X-Session-ID': 'user-1' });
    const reader = await signedIn(
      await tenant.key({ scopes: ['RUNS'] }),
      pathOf(bot, '?session_id=user-1'),
    );
    const reasonIn = (page: Page) =>
      page.getByRole('button', { name: 'Send again', exact: true }).getAttribute('title');
    await reader.getByText('Hello there.').waitFor();
    await expect.poll(() => reasonIn(reader)).toBe('Your key lacks the scope chat.');

    const page = await signedIn(tenant.apiKey, pathOf(bot, '?session_id=user-1'));
    await page.getByText('Hello there.').waitFor();
    await page.getByRole('button', { name: 'context' }).click();
    await page.getByLabel('Context', { exact: true }).fill('{');
    await expect.poll(() => reasonIn(page)).toBe('Correct the context first.');
    await page.getByLabel('Context', { exact: true }).fill('');
    await expect.poll(() => reasonIn(page)).toBe('Send again');
    await page.getByRole('button', { name: 'REST', exact: true }).click();
    await expect.poll(() => reasonIn(page)).toMatch(/^REST needs an API key/);
  });

  browserTest('has no idempotency key that has a reply', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    answerWith(app, 'Hello there.');
    await tenant.chat(bot, { message: 'Hi' }, { 'X-Session-ID': 'user-1' });
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?session_id=user-1'));
    await page.getByText('Hello there.').waitFor();
    await page.getByRole('button', { name: 'streamed' }).click();
    await page.getByLabel('Idempotency key').fill('order-1');
    refuseAll(app);
    await ask(page, 'Once');
    const problem = page.getByRole('alert').filter({ hasText: 'model_error' });
    await problem.waitFor();
    answerWith(app, 'The reply to the key.');
    await problem.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The reply to the key.').waitFor();
    await page.getByText(/first text after .* tokens/).waitFor();
    await page.getByText('"idempotencyKey": "order-1"').waitFor();

    const repeat = (at: number) =>
      page
        .locator('.turn')
        .nth(at)
        .getByRole('button', { name: 'Send again', exact: true })
        .click();
    answerWith(app, 'To the stored message.');
    await repeat(0);
    await page.getByText('To the stored message.').waitFor();
    await expect.poll(() => page.getByText(/first text after .* tokens/).count()).toBe(2);
    answerWith(app, 'Another reply.');
    await repeat(2);
    await page.getByText('Another reply.').waitFor();
    await expect.poll(() => page.getByText(/first text after .* tokens/).count()).toBe(3);
    await expect.poll(() => page.getByText('idempotencyKey').count()).toBe(0);
  });
});

browserTest('the playground can be used with only the keyboard', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  const page = await signedIn(tenant.apiKey, pathOf(bot));
  await page.getByRole('heading', { name: 'Say hello' }).waitFor();
  const focused = () =>
    page.evaluate(
      () =>
        document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent,
    );
  const reach = async (name: string) => {
    for (let presses = 0; presses < 40 && (await focused()) !== name; presses += 1)
      await page.keyboard.press('Tab');
    await expect.poll(focused).toBe(name);
  };
  await reach('Message');
  answerWith(app, 'Hello, keyboard.');
  await page.keyboard.type('Hi');
  await page.keyboard.press('Enter');
  await page.getByText('Hello, keyboard.').waitFor();
  await page.getByText(/first text after .* tokens/).waitFor();
  await expect.poll(focused).toBe('Message');
  await reach('Request');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.getByText('Inject memory').waitFor();
  await expect.poll(focused).toBe('Trace');
  await page.keyboard.press('ArrowLeft');
  await reach('Frames');
});

browserTest('a key with only the scope CHAT sees a trace made from the events', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot('tools time');
  const key = await tenant.key({ scopes: ['CHAT'] });
  const page = await signedIn(key, pathOf(bot, '?tab=trace'));
  let rounds = 0;
  app.upstream.script(({ say, call, end }) => {
    rounds += 1;
    if (rounds === 1) return call(CLOCK);
    say('Done.');
    end();
  });
  await page.getByText('Earlier messages are not shown. Your key lacks the scope runs.').waitFor();
  await ask(page, 'Hi');
  await page.getByText('Drawn from the events of the reply.').waitFor();
  await page.getByText('Model call 2').first().waitFor();
  await page.getByRole('button', { name: 'REST' }).click();
  const create = page.getByRole('button', { name: 'Create a key for 1 hour' });
  await expect.poll(() => create.getAttribute('title')).toBe('Your key lacks the scope admin.');
});
