import { beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGES, sampleOf } from '../../src/console/screens/playground/inspector/samples.ts';
import type { Call } from '../../src/console/server/call.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { execute } from './execute-sample.ts';
import { answerWith, ask, pathOf } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('the code of a message', () => {
  browserTest('runs unchanged after it is copied', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "Plan: {{ context.plan }}."');
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?tab=code'));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: /^context/ }).click();
    await page.getByLabel('Context', { exact: true }).fill('{"plan": "it\'s $HOME"}');
    const message = 'It\'s "quoted", `$(echo no)`, \\n, 👋 and שלום';
    answerWith(app, 'First ', 'reply.');
    await ask(page, message);
    await page.getByText(/first text after .* tokens/).waitFor();
    for (const { name, label } of LANGUAGES) {
      await page.getByRole('button', { name: label, exact: true }).click();
      const block = page.locator('.inspector').getByLabel(label, { exact: true });
      await block.waitFor();
      const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
      await page.evaluate(() => navigator.clipboard.writeText(''));
      await page.locator('.inspector').getByRole('button', { name: 'Copy', exact: true }).click();
      await expect.poll(clipboard).not.toBe('');
      const code = await clipboard();
      const before = app.upstream.requests.length;
      const printed = await execute(name, code, tenant.apiKey);
      expect(printed).toContain('reply.');
      const asked = app.upstream.requests.slice(before).map(({ body }) => body.messages);
      expect([name, asked.length]).toEqual([name, 1]);
      expect(asked[0]?.at(-1)?.content).toBe(message);
      expect(asked[0]?.[0]?.content).toContain("Plan: it's $HOME.");
    }
  });

  const calls: [string, Partial<Call>][] = [
    ['a plain message', {}],
    [
      'lines, quotes and signs of shells',
      { message: `'"\`\\ $PATH $(id) %s !! \n\t\r ${'\u2028'}` },
    ],
    ['a session id with emoji', { sessionId: "O'Neill-👋" }],
    [
      'a context with names of every kind',
      { context: { __proto__: null, "it's": [1.5, true, null, { a: [] }], 'ключ"': 'v\n' } },
    ],
    ['staging, a key and a busy session', { environment: 'STAGING', onBusy: 'REJECT' }],
  ];
  const cases = calls.flatMap(([what, call]) =>
    LANGUAGES.map(({ name }) => ({ what, call, language: name, isStreamed: true })),
  );
  const whole = (['curl', 'client', 'node', 'python'] as const).map((language) => ({
    what: 'a plain message',
    call: {} as Partial<Call>,
    language,
    isStreamed: false,
  }));
  test.each([...cases, ...whole])(
    'sends $what in $language, streamed: $isStreamed',
    async ({ call, language, isStreamed }) => {
      const tenant = await app.tenant();
      const environment = call.environment ?? 'PRODUCTION';
      const bot = await tenant.bot('', environment);
      const sent: Call = {
        botId: bot,
        message: 'Hello!',
        sessionId: 'user-1',
        environment,
        protocol: 'graphql',
        isStreamed,
        idempotencyKey: crypto.randomUUID(),
        ...call,
      };
      answerWith(app, 'A ', 'reply.');
      const printed = await execute(language, sampleOf(language, sent, app.url), tenant.apiKey);
      expect(printed).toContain('reply.');
      expect(app.upstream.requests.at(-1)?.body.messages.at(-1)?.content).toBe(sent.message);
      const { sessionId, input } = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
      expect({ sessionId, input }).toEqual({ sessionId: sent.sessionId, input: sent.message });
    },
  );
});
