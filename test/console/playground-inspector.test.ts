import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits } from './page.ts';
import { answerWith, ask, askForStory, CLOCK, pathOf, typeRestKey } from './playground-page.ts';
import { startProxy } from './proxy.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

const openTab = (page: Page, name: string) => page.getByRole('tab', { name }).click();

describe('the inspector', () => {
  browserTest('shows the request, the response, the trace, the limits and the code', async () => {
    const tenant = await app.tenant({ requestsPerMinute: 5_000 });
    const bot = await tenant.bot('tools time');
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    let rounds = 0;
    const late = Promise.withResolvers<void>();
    app.upstream.script(async ({ call, say, end }) => {
      rounds += 1;
      if (rounds === 1) return call(CLOCK);
      say('Half ');
      await late.promise;
      say('past ten.');
      end();
    });
    await ask(page, 'What time is it?');
    await page.locator('.turn-reply').getByText('Half').waitFor();

    await page.getByText('"message": "What time is it?"').waitFor();
    await page.getByText('POST /graphql/stream').waitFor();
    await assertAccessible(page);

    await openTab(page, 'Response');
    const frames = page.getByRole('region', { name: 'Frames' });
    await frames.getByRole('button', { name: /^\d+ ms TextDelta .*"delta":"Half "/ }).waitFor();
    await page.getByText(/ B so far$/).waitFor();

    await openTab(page, 'Trace');
    await page.getByText('time.now').last().waitFor();
    await page.getByText('running').first().waitFor();

    late.resolve();
    await page.getByText('Load history').waitFor();
    await page
      .getByRole('button', { name: /^Model call 1/ })
      .first()
      .click();
    await page.getByText('gen_ai.usage.output_tokens').waitFor();
    await assertAccessible(page);

    await openTab(page, 'Response');
    await frames.getByRole('button', { name: /ChatDone/ }).click();
    await frames.getByText('event: next').waitFor();
    await page.getByText(/^\d+ headers$/).click();
    await page.getByText('text/event-stream').waitFor();
    await assertAccessible(page);

    await openTab(page, 'Limits');
    await page.getByText('of 5,000').waitFor();
    // A minute that ends after the figures are read resets the window.
    const hasReset = page.getByText(/^The window has reset/);
    await expect
      .poll(async () => {
        if (await hasReset.isVisible())
          await page.getByRole('button', { name: 'Read again' }).click();
        return page.getByText(/^The window resets in \d+ s/).count();
      })
      .toBe(1);
    await assertAccessible(page);
    await openTab(page, 'Code');
    await page.getByText('$PARLEY_API_KEY').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.setViewportSize({ width: 360, height: 780 });
    await page.getByRole('button', { name: 'Back to the conversation' }).click();
    await page.getByRole('button', { name: 'Inspect', exact: true }).click();
    await page.getByText('POST /graphql/stream').waitFor();
  });

  browserTest('sends REST with a key that it creates, masks and revokes', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    // A wrong clock of the browser must not change the key's lifetime.
    await page.clock.setSystemTime(Date.now() - 7_200_000);
    await page.reload();
    await page.getByRole('button', { name: 'REST' }).click();
    await page.getByRole('button', { name: 'Create a key for 1 hour' }).click();
    await page.getByText('may only chat with this bot').waitFor();
    const key = await app.prisma.apiKey.findFirstOrThrow({
      where: { accountId: tenant.accountId, name: 'Playground, 1 hour' },
    });
    expect(key.scopes).toEqual(['CHAT']);
    expect(key.botIds).toEqual([bot]);
    const life = Number(key.expiresAt) - Date.now();
    expect(life).toBeGreaterThan(3_000_000);
    expect(life).toBeLessThanOrEqual(3_601_000);

    answerWith(app, 'By ', 'REST.');
    await ask(page, 'Hi');
    await page.getByText('By REST.').waitFor();
    await page.getByText(`POST /v1/bots/${bot}/chat`).waitFor();
    await page.getByText(/^Bearer parley_sk_\w{4}…$/).waitFor();
    await openTab(page, 'Response');
    await page.getByRole('button', { name: /\{"delta":"By "\}/ }).click();
    await page.getByText('data: {"delta":"By "}').waitFor();
    await page.getByRole('button', { name: /"event":"done"/ }).waitFor();
    await openTab(page, 'Trace');
    await page.getByText('Load history').waitFor();
    await assertAccessible(page);
    await assertFits(page);

    await page.getByRole('button', { name: 'streamed' }).click();
    await page.getByLabel('Reply', { exact: true }).selectOption('Whole');
    answerWith(app, 'All at once.');
    await ask(page, 'Hi again');
    await page.getByText('All at once.').waitFor();
    await openTab(page, 'Response');
    await page.getByText('"response": "All at once."').waitFor();

    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoked the key.').waitFor();
    const { revokedAt } = await app.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } });
    expect(revokedAt).not.toBeNull();

    await page.getByLabel('API key for REST').fill(`parley_sk_${'0'.repeat(49)}`);
    await page.keyboard.press('Enter');
    await ask(page, 'With a wrong key');
    await page.getByRole('alert').getByText('invalid_api_key').waitFor();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.reload();
    await page.getByRole('button', { name: 'REST' }).click();
    await page.getByRole('button', { name: 'Create a key for 1 hour' }).waitFor();
  });

  browserTest('shows local times, right beside a wrong clock, with UTC on hover', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const timeZone = 'Asia/Kolkata';
    const page = await signedIn(tenant.apiKey, pathOf(bot), app.url, { timezoneId: timeZone });
    await page.clock.setSystemTime(Date.now() - 7_200_000);
    await page.reload();
    const zone = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone });
    /** The time in a line of the page, in milliseconds since the epoch. */
    const timeIn = async (line: RegExp) => {
      const [at = '', text, title = ''] = await page
        .getByText(line)
        .locator('time')
        .evaluate((time: HTMLTimeElement) => [time.dateTime, time.textContent, time.title]);
      expect(text).toContain(zone.format(new Date(at)));
      expect(title).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? UTC$/);
      expect(title.slice(11, 19)).toBe(at.slice(11, 19));
      return Date.parse(at);
    };
    await page.getByRole('button', { name: 'REST' }).click();
    await page.getByRole('button', { name: 'Create a key for 1 hour' }).click();
    const key = await timeIn(/^may only chat with this bot, until/);
    const { expiresAt } = await app.prisma.apiKey.findFirstOrThrow({
      where: { accountId: tenant.accountId, name: 'Playground, 1 hour' },
    });
    expect(key).toBe(Number(expiresAt));
    answerWith(app, 'By REST.');
    await ask(page, 'Hi');
    await page.getByText('By REST.').waitFor();
    const sent = await timeIn(/^Sent at/);
    expect(Math.abs(sent - Date.now())).toBeLessThan(3_600_000);
    await openTab(page, 'Limits');
    await timeIn(/^The window/);
  });

  browserTest('completes an interrupted REST stream from the events of its run', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const network = await startProxy(app.url);
    atTheEnd(network.close);
    const page = await signedIn(await tenant.key({ scopes: ['ADMIN'] }), pathOf(bot), network.url);
    await typeRestKey(page, tenant.apiKey);
    app.upstream.script(async ({ say, end, closed }) => {
      say('Text before the failure');
      await closed;
      end();
    });
    await ask(page, 'Hi');
    await page.getByText('Text before the failure').waitFor();
    network.cut();
    network.restore();
    await page.getByText(/^stopped · /).waitFor();
    await page.getByText('Text before the failure').waitFor();
    await page.getByText(/^GET \/v1\/bots\/.*\/runs\/run_.*\/events$/).waitFor();
  });

  browserTest('stops a REST run with the key that started it', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(await tenant.key({ scopes: ['ADMIN'] }), pathOf(bot));
    await typeRestKey(page, tenant.apiKey);
    await askForStory(app, page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/^stopped · first text/).waitFor();
  });
});

describe('a key that the playground creates', () => {
  const create = (page: Page) => page.getByRole('button', { name: 'Create a key for 1 hour' });
  const rest = (page: Page) => page.getByRole('button', { name: 'REST', exact: true }).click();

  browserTest('is used for its bot only, until it expires', async () => {
    const tenant = await app.tenant();
    const [bot, other] = [await tenant.bot(), await tenant.bot()];
    const page = await signedIn(tenant.apiKey, pathOf(bot));
    // The clock is there before the page's scripts, so that all of their timers follow it.
    await page.clock.install();
    await page.reload();
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    await rest(page);
    await create(page).click();
    const held = page.getByText('may only chat with this bot');
    await held.waitFor();

    await page.evaluate((path) => history.pushState(null, '', path), pathOf(other));
    await held.waitFor({ state: 'detached' });
    await rest(page);
    await create(page).waitFor();
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await expect.poll(() => send.getAttribute('title')).toMatch(/^REST needs an API key/);

    await page.goBack();
    await page.getByRole('heading', { name: 'Say hello' }).waitFor();
    await rest(page);
    await held.waitFor();
    await page.clock.fastForward('01:00:01');
    await create(page).waitFor();
    await expect.poll(() => held.count()).toBe(0);
    await expect.poll(() => send.getAttribute('title')).toMatch(/^REST needs an API key/);
  });

  browserTest('has no scope that the signed-in key lacks, and does not outlive it', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const open = async (key: string) => {
      const page = await signedIn(key, pathOf(bot));
      await rest(page);
      return page;
    };
    const expiresIn = (minutes: number) =>
      tenant.key({ expiresAt: new Date(Date.now() + minutes * 60_000) });
    const admin = await open(await tenant.key({ scopes: ['ADMIN'] }));
    await expect
      .poll(() => create(admin).getAttribute('title'))
      .toBe('Your key lacks the scope chat.');
    const brief = await open(await expiresIn(30));
    await expect
      .poll(() => create(brief).getAttribute('title'))
      .toMatch(/^Your key expires within the hour/);
    const longer = await open(await expiresIn(90));
    await create(longer).click();
    await longer.getByText('may only chat with this bot').waitFor();
  });
});
