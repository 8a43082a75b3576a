import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { startProxy } from './proxy.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn, endSessions } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const pathOf = (bot: string, search = '') => `/bots/${bot}/playground${search}`;

const ask = async (page: Page, message: string) => {
  await page.getByLabel('Message').fill(message);
  await page.getByLabel('Message').press('Enter');
};

/** Makes the model answer each message with a text. */
const answerWith = (text: string) =>
  app.upstream.script(({ say, end }) => {
    say(text);
    end();
  });

/** The last request that the model server received. */
const lastAsked = () => app.upstream.requests.at(-1)?.body.messages ?? [];

/** A call of the built-in clock. */
const TIME: [name: string, input: object] = ['time_now', {}];

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
  browserTest('shows as Markdown, and nothing of it as HTML', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const { page, assertQuiet } = await signedIn(tenant.apiKey, pathOf(bot));
    answerWith(MARKDOWN);
    await ask(page, 'Hi');
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    await page.getByText(/first text after .* tokens/).waitFor();
    const reply = page.locator('.turn-reply');
    await reply.getByRole('cell', { name: '12 €' }).waitFor();
    const link = reply.getByRole('link', { name: 'the page' });
    expect(await link.getAttribute('href')).toBe('https://shop.example/a?x=1&y=2');
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await reply.getByRole('link').count()).toBe(2);
    expect(await reply.locator('img, script').count()).toBe(0);
    await reply.getByText('<script>alert(2)</script>').waitFor();
    await reply.getByText('onerror="alert(1)"').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await reply.locator('.code-block').getByRole('button', { name: 'Copy' }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe('curl https://shop.example');
    await assertAccessible(page);
    await assertFits(page);
    await assertQuiet();
  });

  browserTest('stays readable with 64 tool calls, 100 kB and text from right to left', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('tools time\n  limits { tool_calls 64 }');
    const { page, assertQuiet } = await signedIn(tenant.apiKey, pathOf(bot, '?tab=response'));
    let rounds = 0;
    app.upstream.script(({ say, call, end }) => {
      rounds += 1;
      if (rounds === 1) return call(...Array.from({ length: 64 }, () => TIME));
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
    // Only the frames in sight are in the page.
    await page.getByText(/^2,\d{3} frames$/).waitFor();
    expect(await page.locator('.frame-row').count()).toBeLessThan(100);
    await page.getByRole('tab', { name: 'Trace' }).click();
    await page.getByText('execute_tool').last().waitFor();
    expect(await page.locator('.span-tool').count()).toBe(64);
    await assertQuiet();
  });

  browserTest('can be stopped, sent again, and edited and sent again', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const { page, assertQuiet } = await signedIn(tenant.apiKey, pathOf(bot));
    app.upstream.script(async ({ say, end, closed }) => {
      say('Once upon a time');
      await closed;
      end();
    });
    await ask(page, 'Tell me a story');
    await page.getByText('Once upon a time').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/stopped · first text/).waitFor();
    answerWith('The end.');
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    await page.getByText('The end.').waitFor();
    await page.getByRole('button', { name: 'Edit and send again' }).last().click();
    expect(await page.getByLabel('Message').inputValue()).toBe('Tell me a story');
    answerWith('A short one.');
    await page.keyboard.type(' of cats');
    await page.keyboard.press('Enter');
    await page.getByText('A short one.').waitFor();
    expect(lastAsked().at(-1)?.content).toBe('Tell me a story of cats');
    await assertQuiet();
  });

  browserTest('that fails says why, with the ids for the log', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const { page, assertQuiet } = await signedIn(tenant.apiKey, pathOf(bot));
    app.upstream.script(({ response }) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no"}}');
    });
    await ask(page, 'Hi');
    const problem = page.getByRole('alert').filter({ hasText: 'model_error' });
    await problem.getByTitle(/^Copy run_/).waitFor();
    await assertAccessible(page);
    answerWith('Now it works.');
    await problem.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Now it works.').waitFor();
    await assertQuiet();
  });
});

describe('the parameters of a message', () => {
  browserTest('reach the model: a context that is typed with mistakes first', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "Plan: {{ context.plan }}. City: {{ context.city }}."');
    const { page, assertQuiet } = await signedIn(tenant.apiKey, pathOf(bot));
    await page.getByRole('button', { name: 'context none' }).click();
    const context = page.getByLabel('Context', { exact: true });
    await context.fill('{\n  "plan": "pro",\n  oops\n}');
    await page.getByRole('button', { name: /^Line 3, column 3: / }).click();
    expect(await context.evaluate((input: HTMLTextAreaElement) => input.selectionStart)).toBe(21);
    expect(await context.inputValue()).toBe('{\n  "plan": "pro",\n  oops\n}');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    expect(await send.getAttribute('title')).toBe('Correct the context first.');
    await assertAccessible(page);
    await context.fill('[1]');
    await page.getByText('The context must be an object').waitFor();
    await context.fill('{"plan": "pro"}');
    await page.getByRole('button', { name: 'Add city' }).click();
    expect(JSON.parse(await context.inputValue())).toEqual({ plan: 'pro', city: '' });
    await context.fill('{"plan": "pro", "city": "Łódź"}');
    await ask(page, 'Hi');
    await page.getByText(/first text after/).waitFor();
    expect(lastAsked()[0]?.content).toContain('Plan: pro. City: Łódź.');
    await assertFits(page);
    await assertQuiet();
  });

  browserTest('stand in the address, and stored messages come back with it', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('tools time');
    const { page, assertQuiet } = await signedIn(
      tenant.apiKey,
      pathOf(bot, '?session_id=user-42&tab=code&on_busy=reject'),
    );
    let rounds = 0;
    app.upstream.script(({ say, call, end }) => {
      rounds += 1;
      if (rounds === 1) return call(TIME);
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
    expect(await page.getByLabel('Session id').inputValue()).toBe('user-42');
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Code');
    await page.getByLabel('Session id').fill('user-43-👋');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    expect(new URL(page.url()).searchParams.get('session_id')).toBe('user-43-👋');
    await page.getByRole('button', { name: 'New session' }).click();
    await expect.poll(() => page.getByLabel('Session id').inputValue()).toMatch(/^console-\w{8}$/);
    await assertQuiet();
  });

  browserTest('make a request safe to repeat, and its reply whole', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const { page, assertQuiet } = await signedIn(tenant.apiKey, pathOf(bot, '?stream=false'));
    await page.getByRole('button', { name: 'whole' }).click();
    await page.getByLabel('Idempotency key').fill('ключ');
    await page.getByText('A key has only visible ASCII characters.').waitFor();
    await page.getByRole('button', { name: 'New key' }).click();
    answerWith('The first reply.');
    await ask(page, 'Once');
    await page.getByText('The first reply.').waitFor();
    answerWith('Another reply.');
    await ask(page, 'Once');
    await expect.poll(() => page.getByText('The first reply.').count()).toBe(2);
    await ask(page, 'Something else');
    await page.getByText('idempotency_conflict').waitFor();
    await assertAccessible(page);
    await assertQuiet();
  });
});

browserTest('production and staging answer the same message side by side', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot('prompt "You are production."');
  const source = agent('prompt "You are staging."');
  await tenant.graphql(
    'mutation ($id: ID!, $source: String!) { deploy(botId: $id, input: { source: $source, environment: STAGING }) { id } }',
    { id: bot, source },
  );
  const { page, assertQuiet } = await signedIn(tenant.apiKey, pathOf(bot));
  await page.getByRole('button', { name: 'Compare' }).click();
  app.upstream.script(({ request, say, end }) => {
    say(
      request.body.messages[0]?.content.includes('staging') ? 'From staging.' : 'From production.',
    );
    end();
  });
  await ask(page, 'Who are you?');
  await page.getByRole('region', { name: 'Production' }).getByText('From production.').waitFor();
  await page.getByRole('region', { name: 'Staging' }).getByText('From staging.').waitFor();
  await page.getByRole('button', { name: 'Staging' }).last().click();
  await page.getByText('"environment": "STAGING"').waitFor();
  await assertAccessible(page);
  await assertFits(page);
  await page.reload();
  await page.getByRole('region', { name: 'Staging' }).getByText('From staging.').waitFor();
  await assertQuiet();
});

describe('a message that cannot be sent', () => {
  browserTest('stays in its field when the session has ended', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const { page, assertQuiet } = await signedIn(tenant.apiKey, pathOf(bot));
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    await endSessions(tenant);
    await ask(page, 'A long and careful question');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Message').inputValue()).toBe('A long and careful question');
    answerWith('Thank you for asking.');
    await page.getByLabel('Message').press('Enter');
    await page.getByText('Thank you for asking.').waitFor();
    await assertQuiet();
  });

  browserTest('counts down to the end of the limit, and can then be sent again', async () => {
    const tenant = await app.tenant({ requestsPerDay: 60 });
    const bot = await tenant.bot();
    const { page } = await signedIn(tenant.apiKey, pathOf(bot));
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    await page.clock.install();
    for (let status = 200; status !== 429; )
      ({ status } = await fetch(`${app.url}/v1/bots/${bot}/deployments`, {
        headers: tenant.headers,
      }));
    await ask(page, 'Hi');
    await page.getByText('rate_limit_exceeded').waitFor();
    const again = page.getByRole('button', { name: /^Send again in \d+ s$/ });
    await again.waitFor();
    await assertAccessible(page);
    await page.clock.fastForward('24:00:00');
    await page
      .getByRole('alert')
      .getByRole('button', { name: 'Send again', exact: true })
      .waitFor();
  });

  browserTest('reads on where a cut network left its reply, and shows both requests', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const network = await startProxy(app.url);
    atTheEnd(network.close);
    const path = pathOf(bot, '?tab=response');
    const { page } = await signedIn(tenant.apiKey, path, network.url);
    const cut = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('Before, ');
      await cut.promise;
      say('and after.');
      end();
    });
    await ask(page, 'Go on');
    await page.locator('.turn-reply').getByText('Before,').waitFor();
    network.cut();
    await page.getByText('Parley does not answer.').waitFor();
    await page.getByText(/^cut after/).waitFor();
    cut.resolve();
    network.restore();
    await page.getByText('Before, and after.').waitFor();
    await page.getByRole('button', { name: 'Resumed 1' }).waitFor();
    await page.getByRole('tab', { name: 'Request' }).click();
    await page.getByText(/"after": \d/).waitFor();
  });
});

browserTest('the playground works by keyboard alone', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  const { page, assertQuiet } = await signedIn(tenant.apiKey, pathOf(bot));
  await page.getByRole('heading', { name: 'Say hello' }).waitFor();
  const focused = () =>
    page.evaluate(
      () =>
        document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent,
    );
  const reach = async (name: string) => {
    for (let presses = 0; presses < 40 && (await focused()) !== name; presses += 1)
      await page.keyboard.press('Tab');
    expect(await focused()).toBe(name);
  };
  await reach('Message');
  answerWith('Hello, keyboard.');
  await page.keyboard.type('Hi');
  await page.keyboard.press('Enter');
  await page.getByText('Hello, keyboard.').waitFor();
  await page.getByText(/first text after .* tokens/).waitFor();
  expect(await focused()).toBe('Message');
  await reach('Request');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.getByText('Inject memory').waitFor();
  expect(await focused()).toBe('Trace');
  await page.keyboard.press('ArrowLeft');
  await reach('Frames');
  await assertQuiet();
});

browserTest('a key that may only chat sees the trace that the events draw', async () => {
  const tenant = await app.tenant();
  const bot = await tenant.bot('tools time');
  const key = await tenant.key({ scopes: ['CHAT'] });
  const { page, assertQuiet } = await signedIn(key, pathOf(bot, '?tab=trace'));
  let rounds = 0;
  app.upstream.script(({ say, call, end }) => {
    rounds += 1;
    if (rounds === 1) return call(TIME);
    say('Done.');
    end();
  });
  await page.getByText('Earlier messages are not shown. Your key lacks the scope runs.').waitFor();
  await ask(page, 'Hi');
  await page.getByText('Drawn from the events of the reply.').waitFor();
  await page.getByText('execute_tool').waitFor();
  await page.getByRole('button', { name: 'REST' }).click();
  const create = page.getByRole('button', { name: 'Create a key for 1 hour' });
  expect(await create.getAttribute('title')).toBe('Your key lacks the scope admin.');
  await assertQuiet();
});
