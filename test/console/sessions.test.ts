import { beforeAll, describe, expect } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { makeRuns } from '../helpers/runs.ts';
import { assertAccessible, assertFits, assertWrongEnvironment } from './page.ts';
import { CLOCK } from './playground-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** Sends a message over GraphQL, which takes any session id. */
const chat = async (tenant: Tenant, bot: string, sessionId: string, message: string) => {
  const { errors } = await tenant.graphql(
    'mutation ($bot: ID!, $input: ChatInput!) { chat(botId: $bot, input: $input) { runId } }',
    { bot, input: { sessionId, message } },
  );
  expect(errors).toBeUndefined();
};

const remember = (tenant: Tenant, bot: string, sessionId: string, facts: Record<string, string>) =>
  Promise.all(
    Object.entries(facts).map(([name, value]) =>
      tenant.graphql(
        'mutation ($bot: ID!, $id: String!, $name: String!, $value: String) { setMemory(botId: $bot, sessionId: $id, name: $name, value: $value) { id } }',
        { bot, id: sessionId, name, value },
      ),
    ),
  );

/** Stores sessions that were used a second apart, the first one last. */
const makeSessions = (botId: string, ids: string[]) =>
  app.prisma.session.createMany({
    data: ids.map((sessionId, at) => ({
      id: makeId('ses'),
      botId,
      environment: 'PRODUCTION' as const,
      sessionId,
      lastSeenAt: new Date(Date.now() - at * 1_000),
    })),
  });

describe('the list of sessions', () => {
  browserTest('opens from a bot, loads further pages, and finds a session by its id', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeSessions(
      bot,
      Array.from({ length: 45 }, (_, at) => `user-${at}`),
    );
    const page = await signedIn(tenant.apiKey);
    await page.getByRole('button', { name: 'Actions for Bot' }).click();
    await page.getByRole('menuitem', { name: 'Sessions' }).click();
    const links = page.getByRole('list', { name: 'Sessions' }).getByRole('link');
    await expect.poll(() => links.count()).toBe(30);
    await expect
      .poll(() => links.first().textContent())
      .toMatch(/^user-0No message is stored.0 turns(now|.+ ago)$/);
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => links.count()).toBe(45);

    const finder = page.getByRole('searchbox', { name: 'Open the session of a user' });
    await finder.fill('two words');
    await finder.press('Enter');
    await page.getByText('A session id has 1 to 256 visible characters').waitFor();
    await finder.fill(' user-44 ');
    await finder.press('Enter');
    await page.getByRole('heading', { name: 'user-44' }).waitFor();
    await expect.poll(() => page.url()).toBe(`${app.url}/bots/${bot}/sessions?user=user-44`);
    await page.getByRole('heading', { name: 'No messages are stored' }).waitFor();
    await assertAccessible(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Go to/ }).fill('sessions');
    await page.getByRole('option', { name: 'Sessions', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Open session' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Staging' }).click();
    await page.getByRole('heading', { name: 'No sessions in staging yet' }).waitFor();
    await assertAccessible(page);
  });

  browserTest('scrolls to the session of its address', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeSessions(
      bot,
      Array.from({ length: 28 }, (_, at) => `user-${at}`),
    );
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions?user=user-27`);
    const row = page.getByRole('list', { name: 'Sessions' }).locator('[aria-current="true"]');
    await expect.poll(() => row.textContent()).toContain('user-27');
    const bottom = () => row.evaluate((link) => link.getBoundingClientRect().bottom - innerHeight);
    await expect.poll(bottom).toBeLessThanOrEqual(0);
  });

  browserTest('opens sessions by keyboard alone, beside it and on narrow windows', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeSessions(bot, ['ada', 'bob', 'eve']);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions`);
    const heading = (name: string) => page.getByRole('heading', { name, exact: true });
    await page.getByRole('link', { name: /^ada/ }).focus();
    await page.keyboard.press('ArrowDown');
    await heading('ada').waitFor();
    await page.keyboard.press('ArrowDown');
    await heading('bob').waitFor();
    await page.keyboard.press('ArrowUp');
    await heading('ada').waitFor();
    await page.reload();
    await heading('ada').waitFor();

    await page.setViewportSize({ width: 360, height: 780 });
    await page.getByRole('link', { name: 'All sessions' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /^ada/ }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heading('eve').waitFor();
    await expect.poll(() => page.getByRole('list', { name: 'Sessions' }).isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Memory (0)' }).click();
    await page.getByText('The bot remembers nothing about this user.').waitFor();
    await expect.poll(() => page.url()).toContain('tab=memory');
    await assertAccessible(page);
    await assertFits(page);
    await page.goBack();
    await page.getByRole('list', { name: 'Sessions' }).waitFor();
  });

  browserTest('shows production if its address names no valid environment', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeSessions(bot, ['ada']);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions?environment=mars&user=ada`);
    await page.getByRole('heading', { name: 'ada', exact: true }).waitFor();
    await assertWrongEnvironment(page);
    await expect
      .poll(() => page.url())
      .toBe(`${app.url}/bots/${bot}/sessions?user=ada&environment=production`);
  });

  browserTest('shows nothing of another account, nor to a key without the scope', async () => {
    const [tenant, other] = [await app.tenant(), await app.tenant()];
    const bot = await other.bot();
    await chat(other, bot, 'ada', 'A secret');
    const address = `/bots/${bot}/sessions?user=ada`;
    const page = await signedIn(tenant.apiKey, address);
    await page.getByRole('heading', { name: 'There is no such bot' }).waitFor();
    await page.getByRole('region', { name: 'Open session' }).waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain('A secret');
    const limited = await signedIn(await other.key({ scopes: ['CHAT'] }), address);
    await limited.getByText('Your key lacks the scope runs.').waitFor();
    await assertAccessible(limited);
    expect(await limited.content()).not.toContain('A secret');
  });

  browserTest('shows a failure with the id of the request, and tries again', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    await makeSessions(bot, ['ada']);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/playground`);
    await page.getByRole('link', { name: 'Sessions' }).waitFor();
    await page.route('**/graphql', (route) =>
      route.fulfill({
        headers: { 'x-request-id': 'req_broken' },
        json: { errors: [{ message: 'Broken.', extensions: { code: 'INTERNAL_ERROR' } }] },
      }),
    );
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByTitle('Copy req_broken').waitFor();
    await assertAccessible(page);
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: /^ada/ }).waitFor();
  });
});

describe('a session', () => {
  browserTest(
    'shows its messages with times, tools and their results, and leads to the runs',
    async () => {
      const tenant = await app.tenant();
      const bot = await tenant.bot('tools time');
      let calls = 0;
      app.upstream.script(({ call, say, end }) => {
        calls += 1;
        if (calls === 1) return call(CLOCK);
        say('It is **noon**.');
        end();
      });
      await chat(tenant, bot, 'ada', 'What time is it?');
      const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions`);
      await page.getByRole('link', { name: /^ada/ }).click();
      const conversation = page.getByRole('region', { name: 'Conversation with ada' });
      await conversation.getByText('What time is it?').waitFor();
      await conversation.locator('strong', { hasText: 'noon' }).waitFor();
      await conversation.getByRole('time').waitFor();
      await conversation.getByText('time.now').click();
      await conversation
        .getByRole('group', { name: 'Result of time.now' })
        .getByText('20')
        .waitFor();
      await assertAccessible(page);
      await assertFits(page);
      const run = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
      await conversation.getByRole('link', { name: 'run' }).click();
      await expect.poll(() => page.url()).toBe(`${app.url}/runs/${run.id}`);
      await page.getByRole('link', { name: 'session', exact: true }).click();
      await expect
        .poll(() => page.url())
        .toBe(`${app.url}/bots/${bot}/sessions?user=ada&environment=production`);
      await page.getByRole('link', { name: 'Continue in the playground' }).click();
      await page.getByText('What time is it?').waitFor();
      await expect.poll(() => page.url()).toContain('playground?session_id=ada');
    },
  );

  browserTest('has an address for any id: emoji, slashes, signs of addresses', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const ids = ['../käse/🧀?a=b&c#d%2F+', '👩‍🚀'.replaceAll('\u200d', '').repeat(128), '..'];
    for (const id of ids) await chat(tenant, bot, id, `I am ${id.slice(0, 8)}`);
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions`);
    const finder = page.getByRole('searchbox', { name: 'Open the session of a user' });
    for (const id of ids) {
      await finder.fill(id);
      await finder.press('Enter');
      const conversation = page.getByRole('region', { name: `Conversation with ${id}` });
      await conversation.getByText(`I am ${id.slice(0, 8)}`).waitFor();
      await expect.poll(() => new URL(page.url()).searchParams.get('user')).toBe(id);
      await page.reload();
      await conversation.getByText(`I am ${id.slice(0, 8)}`).waitFor();
      await conversation.getByRole('link', { name: 'run' }).click();
      await page.getByRole('link', { name: 'session', exact: true }).click();
      await conversation.getByText(`I am ${id.slice(0, 8)}`).waitFor();
      await assertFits(page);
    }
    await page.goto(`/bots/${bot}/sessions?user=ada%ED%A0%BD`);
    await page.getByText('replaces bytes that are not text').waitFor();
    await assertAccessible(page);
    await page.goto(`/bots/${bot}/sessions?user=a%20b`);
    await page.getByRole('heading', { name: 'This is not a session id' }).waitFor();
    await page.goto(`/bots/${bot}/sessions?user=nobody`);
    await page.getByRole('heading', { name: 'No such session in production' }).waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'Look in staging' }).click();
    await page.getByRole('heading', { name: 'No such session in staging' }).waitFor();
  });

  browserTest('shows a long conversation page by page, and a message that arrives', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const runs = await makeRuns(
      app,
      bot,
      Array.from({ length: 60 }, (_, at) => ({ sessionId: 'ada', input: `Question ${at}` })),
    );
    await remember(tenant, bot, 'ada', { name: 'Ada' });
    const session = await app.prisma.session.findFirstOrThrow({ where: { botId: bot } });
    const sessionKey = session.id;
    await app.prisma.message.createMany({
      data: runs.flatMap(({ id: runId, input }, at) =>
        (['USER', 'ASSISTANT'] as const).map((role, position) => ({
          id: makeId('msg'),
          sessionKey,
          runId,
          turn: at + 1,
          position,
          role,
          text: position ? `Answer ${at}` : input,
        })),
      ),
    });
    await app.prisma.session.update({ where: { id: sessionKey }, data: { turns: 60 } });
    const page = await signedIn(tenant.apiKey);
    await page.getByTitle(`Copy ${bot}`).waitFor();
    const following = page.waitForRequest('**/graphql/stream');
    await page.goto(`/bots/${bot}/sessions?user=ada`);
    const turns = page.getByRole('region', { name: 'Conversation with ada' }).locator('.turn');
    await expect.poll(() => turns.count()).toBe(25);
    await page.getByRole('button', { name: 'Show earlier messages' }).click();
    await expect.poll(() => turns.count()).toBe(50);
    await page.getByRole('button', { name: 'Show earlier messages' }).click();
    await expect.poll(() => turns.count()).toBe(60);
    await expect.poll(() => turns.first().textContent()).toContain('Question 0');
    // The response begins when the server follows the runs.
    await (await (await following).response())?.headerValue('content-type');
    const finish = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      await finish.promise;
      say('Welcome back.');
      end();
    });
    const answered = chat(tenant, bot, 'ada', 'Here I am again');
    await page.getByRole('link', { name: 'a reply is running' }).waitFor();
    await assertAccessible(page);
    finish.resolve();
    await answered;
    await page.getByText('Welcome back.').waitFor();
    await page.getByRole('link', { name: 'a reply is running' }).waitFor({ state: 'detached' });
    await expect.poll(() => turns.count()).toBe(61);
    await page.getByText('61 turns').waitFor();
  });

  browserTest('has a memory whose facts are added, changed and deleted, with undo', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    await remember(tenant, bot, 'ada', { name: 'Ada', city: 'Oslo' });
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions?user=ada`);
    await page.setViewportSize({ width: 1440, height: 900 });
    const memory = page.getByRole('complementary', { name: 'Memory' });
    const fact = (text: string) => memory.getByRole('listitem').getByText(text);
    const facts = async () => {
      const stored = await app.prisma.memoryEntry.findMany({
        where: { session: { botId: bot } },
        orderBy: { name: 'asc' },
      });
      return Object.fromEntries(stored.map(({ name, value }) => [name, value]));
    };
    const undo = page.getByRole('button', { name: 'Undo' });
    await fact('Oslo').waitFor();
    await assertAccessible(page);

    await memory.getByRole('button', { name: 'Edit city' }).click();
    await page.getByLabel('Value').fill('Bergen');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    // A toast with the focus stays.
    await undo.focus();
    await fact('Bergen').waitFor();
    await undo.click();
    await fact('Oslo').waitFor();
    await expect.poll(facts).toEqual({ name: 'Ada', city: 'Oslo' });

    await memory.getByRole('button', { name: 'Delete city' }).click();
    await undo.focus();
    await fact('Oslo').waitFor({ state: 'detached' });
    await expect.poll(facts).toEqual({ name: 'Ada' });
    await undo.click();
    await fact('Oslo').waitFor();

    await memory.getByRole('button', { name: 'Add a fact' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('2 words');
    await page.getByLabel('Value').fill('blue');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('must be a name of at most 64 letters').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('colour');
    await page.getByRole('button', { name: 'Save' }).click();
    await undo.focus();
    await fact('blue').waitFor();
    await undo.click();
    await fact('blue').waitFor({ state: 'detached' });
    await expect.poll(facts).toEqual({ name: 'Ada', city: 'Oslo' });
  });

  browserTest('is forgotten after its id is typed', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    await chat(tenant, bot, 'ada', 'Hi');
    await chat(tenant, bot, 'bob', 'Hello');
    const page = await signedIn(tenant.apiKey, `/bots/${bot}/sessions?user=ada`);
    await page.getByRole('button', { name: 'Actions for the session' }).click();
    await page.getByRole('menuitem', { name: 'Forget everything…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type ada to confirm').fill('Ada');
    await page.keyboard.press('Enter');
    await assertAccessible(page);
    await dialog.getByLabel('Type ada to confirm').fill('ada');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.url()).toBe(`${app.url}/bots/${bot}/sessions`);
    const links = page.getByRole('list', { name: 'Sessions' }).getByRole('link');
    await expect.poll(() => links.count()).toBe(1);
    const left = await app.prisma.session.findMany({ where: { botId: bot } });
    expect(left.map(({ sessionId }) => sessionId)).toEqual(['bob']);
  });

  browserTest('says why a key without the scope to chat can change nothing', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    await chat(tenant, bot, 'ada', 'Hi');
    await remember(tenant, bot, 'ada', { name: 'Ada' });
    const key = await tenant.key({ scopes: ['RUNS'] });
    const page = await signedIn(key, `/bots/${bot}/sessions?user=ada&tab=memory`);
    const reason = 'Your key lacks the scope chat.';
    for (const name of ['Edit name', 'Delete name', 'Add a fact', 'Continue in the playground'])
      await expect
        .poll(() => page.getByRole('button', { name }).getAttribute('title'))
        .toBe(reason);
    await page.getByRole('button', { name: 'Actions for the session' }).click();
    const forget = page.getByRole('menuitem', { name: 'Forget everything…' });
    await expect.poll(() => forget.getAttribute('title')).toBe(reason);
    await assertAccessible(page);
  });
});
