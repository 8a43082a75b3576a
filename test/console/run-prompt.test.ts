import { beforeAll, describe, expect } from 'vitest';
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

/** A conversation of two turns with memory and context. @returns the runs of both turns. */
async function conversation() {
  const tenant = await app.tenant();
  const bot = await tenant.bot('prompt "You help {{ session.id }}."');
  await tenant.graphql(
    `mutation { setMemory(botId: "${bot}", sessionId: "ada", name: "name", value: "Ada L.") { id } }`,
  );
  const runs: string[] = [];
  for (const [message, plan] of [
    ['First question', 'free'],
    [`Second question ${'long '.repeat(300)}`, 'pro'],
  ]) {
    const headers = { 'x-session-id': 'ada' };
    const response = await tenant.chat(bot, { message, context: { plan } }, headers);
    runs.push(response.headers.get('x-run-id') ?? '');
  }
  const [first = '', second = ''] = runs;
  return { tenant, bot, first, second };
}

describe('the prompt of a run', () => {
  browserTest('shows the additions of each step, unfolds by keyboard, and is copied', async () => {
    const { tenant, second } = await conversation();
    const page = await signedIn(tenant.apiKey, `/runs/${second}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Prompt', exact: true }).click();
    await expect.poll(() => page.url()).toContain('?tab=prompt');
    await page.reload();
    const step = (name: string) => page.getByRole('region', { name: `${name} in the prompt` });
    await step('History').getByText('First question').waitFor();
    await step('Memory').getByText('Ada L.').waitFor();
    await step('Context').getByText('"plan":"pro"').waitFor();
    await step('Definition').getByText('You help ada.').waitFor();
    const bands = page.locator('.prompt-band');
    await expect
      .poll(() =>
        bands.evaluateAll((all) => all.map((one) => one.querySelector('h3')?.textContent)),
      )
      .toEqual(['Definition', 'Memory', 'Context', 'History', 'Message']);
    await expect.poll(() => bands.first().textContent()).toMatch(/^Definition\d+ tokens · \d+ %/);
    await page.getByLabel('Find in the prompt').fill('first QUESTION');
    await expect.poll(() => bands.count()).toBe(1);
    await page.getByLabel('Find in the prompt').fill('');
    await assertAccessible(page);
    await assertFits(page);
    const message = step('Message').getByRole('listitem').last();
    await expect.poll(() => message.getByRole('button', { name: /^Copy part/ }).count()).toBe(0);
    await message.locator('summary').focus();
    await page.keyboard.press('Enter');
    await message.getByRole('button', { name: /^Copy part/ }).click();
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(clipboard).toMatch(/^Second question (long ){300}$/);
    await page.getByRole('button', { name: 'Copy the prompt' }).click();
    await expect.poll(clipboard).toMatch(/^\[system\]\nYou help ada\..*\n\n\[user\]\nSecond/s);
    await assertAccessible(page);
  });

  browserTest('names parts that are not stored, not complete, or hidden from the key', async () => {
    const { tenant, bot, first, second } = await conversation();
    const reader = await tenant.key({ scopes: ['RUNS'] });
    await app.prisma.run.delete({ where: { id: first } });
    const page = await signedIn(reader, `/runs/${second}?tab=prompt`);
    await page.getByText('Not complete: a part is no longer stored.').waitFor();
    await page.getByText('Your key lacks the scope deploy.').waitFor();
    expect(await page.content()).not.toContain('You help');
    await assertAccessible(page);
    const [run] = await makeRuns(app, bot, [{ input: 'Without a prompt' }]);
    await page.goto(`/runs/${run?.id}?tab=prompt`);
    await page.getByText('The prompt of this run was not stored, or was deleted.').waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('shows a failure with the id of the request, and tries again', async () => {
    const { tenant, second } = await conversation();
    const page = await signedIn(tenant.apiKey, `/runs/${second}`);
    await page.getByRole('button', { name: /Load history/ }).click();
    await page.getByText('First question').waitFor();
    await page.reload();
    await page.getByRole('button', { name: /Load history/ }).waitFor();
    await page.route('**/graphql', (route) =>
      route.fulfill({
        headers: { 'x-request-id': 'req_broken' },
        json: { errors: [{ message: 'Broken.', extensions: { code: 'INTERNAL_ERROR' } }] },
      }),
    );
    await page.getByRole('button', { name: 'Prompt', exact: true }).click();
    await page.getByTitle('Copy req_broken').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('You help ada.').waitFor();
  });
});
