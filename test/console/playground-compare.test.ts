import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { deploy, saying } from './deployments-page.ts';
import { assertAccessible, assertFits } from './page.ts';
import { ask, pathOf } from './playground-page.ts';
import { editorOf, studioOf, write } from './studio-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const comparison = (page: Page) => page.getByRole('region', { name: 'Comparison' });
const rows = (page: Page) => comparison(page).locator('.compare-row');

/** The model replies by the system prompt that it was sent. */
function answerByPrompt(replies: Record<string, string>): void {
  app.upstream.script(({ request, say, end }) => {
    const prompt = String(request.body.messages[0]?.content);
    const found = Object.entries(replies).find(([word]) => prompt.includes(word));
    say(found?.[1] ?? 'No reply is written for this prompt.');
    end();
  });
}

/** A bot with one definition in production and another one in staging. */
async function twoSided(tenant: Tenant): Promise<string> {
  const bot = await tenant.bot('prompt "You are production."');
  await deploy(tenant, bot, {
    source: agent('prompt "You are staging."'),
    environment: 'STAGING',
  });
  return bot;
}

/** Waits until both replies have ended. */
const untilBoth = (page: Page, count = 2) =>
  expect.poll(() => comparison(page).getByText('completed', { exact: true }).count()).toBe(count);

describe('a comparison', () => {
  browserTest('shows both replies in shared rows with their differences', async () => {
    const tenant = await app.tenant();
    const bot = await twoSided(tenant);
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    await page.getByRole('button', { name: 'Compare' }).click();
    answerByPrompt({
      staging: 'It arrives on Friday, I hope.',
      production: 'It arrives on Monday, I hope.',
    });
    await ask(page, 'When does it come?');
    await untilBoth(page);
    await expect.poll(() => comparison(page).locator('del').allTextContents()).toEqual(['Monday']);
    await expect.poll(() => comparison(page).locator('ins').allTextContents()).toEqual(['Friday']);
    await comparison(page).getByText('1 of 6 words').waitFor();
    await expect
      .poll(() => rows(page).filter({ hasText: 'Tokens' }).textContent())
      .toMatch(/Tokens\d+(same|[+−]\d+).*Tokens\d+/);
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('button', { name: 'Replies', exact: true }).click();
    await expect.poll(() => comparison(page).locator('ins').count()).toBe(0);
    await comparison(page).getByText('It arrives on Friday, I hope.').waitFor();
    // The address has the sides, the session and the way of showing.
    await page.reload();
    await comparison(page).getByText('It arrives on Friday, I hope.').waitFor();
    await comparison(page).getByText('It arrives on Monday, I hope.').waitFor();
    expect(new URL(page.url()).searchParams.get('show')).toBe('replies');
  });

  browserTest('takes the prompts apart, and says what a side adds', async () => {
    const tenant = await app.tenant();
    const bot = await twoSided(tenant);
    const page = await signedIn(
      tenant.apiKey,
      pathOf(bot, `?compare=true&context=${encodeURIComponent('{"plan":"pro"}')}`),
    );
    answerByPrompt({ You: 'Hello.' });
    await ask(page, 'Hi');
    await untilBoth(page);
    await comparison(page).getByText('same reply').waitFor();
    const definition = page.getByRole('region', { name: 'Definition in both prompts' });
    await expect.poll(() => definition.locator('ins').allTextContents()).toEqual(['staging']);
    const context = page.getByRole('region', { name: 'Context in both prompts' });
    await context.getByText('the same').waitFor();
    await context.getByText('pro').first().waitFor();
    await page.getByRole('img', { name: /^Production v1 by length/ }).waitFor();
    await assertAccessible(page);
    await page.getByRole('tab', { name: 'Request' }).click();
    await page.getByText('"environment": "PRODUCTION"').waitFor();
    await page
      .getByRole('group', { name: 'Inspected side' })
      .getByRole('button', { name: 'Staging v2' })
      .click();
    await page.getByText('"environment": "STAGING"').waitFor();
  });

  browserTest("tries the Studio's draft and a deployment, in separate sessions", async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('prompt "You are version one."');
    const { id: first } = await app.prisma.deployment.findFirstOrThrow({ where: { botId: bot } });
    await deploy(tenant, bot, { source: saying('You are version two.') });
    const page = await signedIn(tenant.apiKey, studioOf(bot));
    await editorOf(page).waitFor();
    await write(page, saying('You are a draft.'));
    await page.getByText('Changes are kept in this browser').first().waitFor();
    await page.getByRole('link', { name: 'Compare…' }).click();
    await page.getByLabel('Left side').selectOption(first);
    await page.getByText('Its definition, with the variables of production.').waitFor();
    await expect.poll(() => page.getByLabel('Right side').inputValue()).toBe('draft');
    answerByPrompt({ 'version one': 'From one.', draft: 'From the draft.' });
    await ask(page, 'Who are you?');
    await untilBoth(page);
    await ask(page, 'And now?');
    await untilBoth(page, 4);
    // Each side continues its session, which belongs to no user.
    const asked = app.upstream.requests.slice(-2).map(({ body }) => body.messages);
    for (const messages of asked)
      expect(messages.map(({ content }) => content)).toContain('Who are you?');
    const sessions = await app.prisma.session.findMany({ where: { botId: bot } });
    expect(sessions).toHaveLength(2);
    for (const { sessionId } of sessions) expect(sessionId).toMatch(/^draft_/);
    const search = new URL(page.url()).searchParams;
    expect([search.get('left'), search.get('right')]).toEqual([first, 'draft']);
    await assertAccessible(page);
    await page.reload();
    await expect.poll(() => comparison(page).getByText('Who are you?').count()).toBe(1);
    await expect.poll(() => comparison(page).locator('ins').count()).toBeGreaterThan(0);
    await ask(page, 'A third one');
    await untilBoth(page, 6);
    expect(await app.prisma.session.count({ where: { botId: bot } })).toBe(2);
  });

  browserTest('aligns tool calls, warns of actions, and can go without tools', async () => {
    const tenant = await app.tenant();
    const tools = (approval: string) => `tools orders {
      capability refund "Refund" {
        input { order_id string }
        ${approval}
        post "https://orders.invalid/refunds"
      }
    }`;
    const bot = await tenant.bot(tools(''));
    await deploy(tenant, bot, {
      source: agent(tools('approval "Paid at once."')),
      environment: 'STAGING',
    });
    const page = await signedIn(tenant.apiKey, pathOf(bot, '?compare=true'));
    await page.getByText('Production v1 calls tools for real:').waitFor();
    app.upstream.script(({ request, call, say, end }) => {
      const { body } = request;
      if (body.tools?.length && body.messages.at(-1)?.role === 'user')
        return call(['orders_refund', { order_id: 'A-1' }]);
      say(body.tools?.length ? 'Done.' : 'No tools.');
      return end();
    });
    await ask(page, 'Refund A-1');
    await untilBoth(page);
    await comparison(page).getByText('same call, not sent right').waitFor();
    await comparison(page).getByText('Not sent yet.').waitFor();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'with tools' }).click();
    await page.getByLabel('Tools').selectOption('Without tools');
    await page.getByText('calls tools for real').waitFor({ state: 'detached' });
    await ask(page, 'Again');
    await untilBoth(page, 4);
    await expect.poll(() => comparison(page).getByText('No tools.').count()).toBe(2);
    expect(new URL(page.url()).searchParams.get('tools')).toBe('none');
  });

  browserTest(
    'has a tab for each side on a narrow screen, and arrow keys move between them',
    async () => {
      const tenant = await app.tenant();
      const bot = await twoSided(tenant);
      const page = await signedIn(tenant.apiKey, pathOf(bot, '?compare=true'));
      await page.setViewportSize({ width: 360, height: 780 });
      answerByPrompt({ staging: 'From staging.', production: 'From production.' });
      await ask(page, 'Who are you?');
      await untilBoth(page, 1);
      const tabs = page.getByRole('tablist', { name: 'Sides' });
      await comparison(page).getByText('production', { exact: false }).first().waitFor();
      await tabs.getByRole('tab', { name: 'Production v1' }).press('ArrowRight');
      await comparison(page).locator('ins').getByText('staging').waitFor();
      await expect.poll(() => comparison(page).locator('del').count()).toBe(0);
      await assertAccessible(page);
      await assertFits(page);
    },
  );

  browserTest('names broken parameters of its address, and what a side lacks', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(
      tenant.apiKey,
      pathOf(bot, '?compare=true&left=mars&right=production&environment=moon&context=%7Bplan'),
    );
    const faults = page.getByRole('alert').getByRole('listitem');
    await expect.poll(() => faults.count()).toBe(2);
    await expect
      .poll(() => faults.allTextContents())
      .toEqual([
        'environment “moon” is not one of production, staging. It is ignored.',
        'left “mars” is not production, staging, draft, staging-draft or the id of a deployment of this bot. It is ignored.',
      ]);
    await page.getByText('Nothing is deployed to staging.').waitFor();
    const send = page.getByRole('button', { name: 'Send to both' });
    await expect.poll(() => send.getAttribute('title')).toBe('Nothing is deployed to staging.');
    await assertAccessible(page);
    await page.getByLabel('Left side').selectOption('draft');
    await page.getByText('The Studio has no changed text for production').waitFor();
    await expect.poll(() => faults.count()).toBe(1);
    await page.goto(pathOf(bot, '?compare=true&left=production&right=production'));
    await page.getByText('is the same as the left side.').waitFor();
    await page.goto(pathOf(bot, '?compare=true&left=dep_nothing'));
    await page.getByText('This bot has no such deployment.').waitFor();
    await assertAccessible(page);
  });

  browserTest(
    'needs the scope deploy for a draft, and keeps a message that was not sent',
    async () => {
      const tenant = await app.tenant();
      const bot = await twoSided(tenant);
      const key = await tenant.key({ scopes: ['CHAT', 'RUNS'] });
      const page = await signedIn(key, pathOf(bot, '?compare=true&right=draft'));
      const send = page.getByRole('button', { name: 'Send to both' });
      await expect.poll(() => send.getAttribute('title')).toBe('Your key lacks the scope deploy.');
      await page.getByRole('textbox', { name: 'Message' }).fill('A long thought');
      await page.getByRole('textbox', { name: 'Message' }).press('Enter');
      await page.getByLabel('Right side').selectOption('staging');
      await expect
        .poll(() => page.getByRole('textbox', { name: 'Message' }).inputValue())
        .toBe('A long thought');
      answerByPrompt({ You: 'Hello.' });
      await page.getByRole('textbox', { name: 'Message' }).press('Enter');
      await untilBoth(page);
    },
  );
});
