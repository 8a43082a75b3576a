import { spawnSync } from 'node:child_process';
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

/** Python has a package of OpenAI only if it was installed beside Parley. */
const hasPython = spawnSync('python3', ['-c', 'import openai']).status === 0;
const RUNNABLE = LANGUAGES.filter(({ name }) => name !== 'openai-python' || hasPython);

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
    for (const { name, label } of RUNNABLE) {
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

  browserTest('has the address of the bot for each kind of client', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?tab=code'));
    const addresses = page.getByLabel('Addresses of the bot').locator('dd');
    await addresses.first().waitFor();
    const texts = (await addresses.allTextContents()).map((text) => text.trim());
    expect(texts.join(' ').split(/\s+/)).toEqual([
      `${app.url}/v1/bots/${bot}/chat`,
      `${app.url}/graphql`,
      `${app.url}/v1`,
      bot,
      `${app.url}/mcp?bots=${bot}`,
    ]);
    const headers = { ...tenant.headers, 'content-type': 'application/json' };
    const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const listed = await fetch(texts.at(-1) ?? '', {
      method: 'POST',
      headers: { ...headers, accept: 'application/json, text/event-stream' },
      body: JSON.stringify(rpc),
    });
    expect(await listed.text()).toContain(`"name":"${bot}"`);
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
    RUNNABLE.map(({ name }) => ({ what, call, language: name, isStreamed: true })),
  );
  const whole = (['curl', 'client', 'node', 'python', 'openai-node'] as const).map((language) => ({
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

  test.each(calls)('sends %s by the package of OpenAI for Python', async (_what, call) => {
    const sent: Call = {
      botId: 'demo',
      message: 'Hello!',
      sessionId: 'user-1',
      environment: 'PRODUCTION',
      protocol: 'graphql',
      isStreamed: true,
      idempotencyKey: 'key-1',
      ...call,
    };
    // What the program passes to the method, and to the constructor, without the package.
    const stub = `import json, os, sys, types
def create(**given):
    sys.stdout.write(json.dumps(given))
    return []
class OpenAI:
    def __init__(self, base_url, api_key):
        assert base_url == "http://127.0.0.1:4000/v1" and api_key == "key"
        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=create))
sys.modules["openai"] = types.SimpleNamespace(OpenAI=OpenAI)
`;
    const code = sampleOf('openai-python', sent, 'http://127.0.0.1:4000');
    const printed = await execute('openai-python', stub + code, 'key');
    expect(JSON.parse(printed)).toEqual({
      model: sent.environment === 'STAGING' ? 'demo:staging' : 'demo',
      messages: [{ role: 'user', content: sent.message }],
      stream: true,
      metadata: { session_id: sent.sessionId },
      ...(sent.context && { extra_body: { context: JSON.parse(JSON.stringify(sent.context)) } }),
      extra_headers: {
        ...(sent.onBusy === 'REJECT' && { 'X-On-Busy': 'reject' }),
        'Idempotency-Key': 'key-1',
      },
    });
  });
});
