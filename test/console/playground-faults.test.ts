import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible } from './page.ts';
import { answerWith, ask, pathOf, refuseAll, typeRestKey } from './playground-page.ts';
import { startProxy } from './proxy.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn, endSessions } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

describe('a message that cannot be sent', () => {
  browserTest('stays in its field if the session has ended', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    await page.getByLabel('Message').fill('A long and careful question');
    // The page may notice the end before the message is sent.
    await endSessions(tenant);
    await page.getByLabel('Message').press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('API key').fill(tenant.apiKey);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect
      .poll(() => page.getByLabel('Message').inputValue())
      .toBe('A long and careful question');
    answerWith(app, 'Thank you for asking.');
    await page.getByLabel('Message').press('Enter');
    await page.getByText('Thank you for asking.').waitFor();
  });

  browserTest('counts down to the end of the limit, and can then be sent again', async () => {
    // No day ends while the requests are counted.
    const now = Date.now();
    const still = await startApp({ clock: () => now });
    const tenant = await still.tenant({ requestsPerDay: 60 });
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot), still.url);
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    await page.clock.install();
    for (let status = 200; status !== 429; )
      ({ status } = await fetch(`${still.url}/v1/bots/${bot}/deployments`, {
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

  browserTest('continues its reply after a network failure, and shows both requests', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const network = await startProxy(app.url);
    atTheEnd(network.close);
    const path = pathOf(bot, '?tab=response');
    const page = await signedIn(tenant.apiKey, path, network.url);
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

describe('a run that fails', () => {
  for (const protocol of ['GraphQL', 'REST'])
    for (const reply of ['streamed', 'whole'])
      browserTest(`has a link, a trace and a request id: ${protocol}, ${reply}`, async () => {
        const tenant = await app.tenant();
        const bot = await tenant.bot();
        const path = pathOf(bot, `?tab=trace${reply === 'whole' ? '&stream=false' : ''}`);
        const page = await signedIn(tenant.apiKey, path);
        if (protocol === 'REST') await typeRestKey(page, tenant.apiKey);
        refuseAll(app);
        await ask(page, 'Hi');
        const problem = page.getByRole('alert').filter({ hasText: 'model_error' });
        await problem.getByTitle(/^Copy req_/).waitFor();
        await page.getByText('Load history').waitFor();
        const { id } = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
        await problem.getByTitle(`Copy ${id}`).waitFor();
        await page.getByRole('link', { name: 'run', exact: true }).click();
        await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${id}`);
      });
});
