import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { execute } from './execute-sample.ts';
import { answerWith, lastAsked } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('the actions on a run', () => {
  browserTest('copy it as a curl line that asks the same again', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "Plan: {{ context.plan }}."');
    answerWith(app, 'The ', 'reply.');
    const message = 'It\'s "quoted", `$(echo no)`, \\n, 👋 and שלום';
    const context = { plan: "it's $HOME" };
    const response = await tenant.chat(bot, { message, context });
    const page = await signedIn(tenant.apiKey, `/runs/${response.headers.get('x-run-id')}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy and more' }).click();
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(clipboard).toContain('curl');
    const before = app.upstream.requests.length;
    expect(await execute('curl', await clipboard(), tenant.apiKey)).toContain('The reply.');
    expect(app.upstream.requests.length).toBe(before + 1);
    const asked = lastAsked(app);
    expect(asked.at(-1)?.content).toBe(message);
    expect(asked[0]?.content).toContain("Plan: it's $HOME.");
  });
});
