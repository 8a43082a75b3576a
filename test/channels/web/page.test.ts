import fastify from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Visited } from '../../../src/accounts/visitors.ts';
import { serveChatPages } from '../../../src/transport/chat/page.ts';
import type { Limiter } from '../../../src/transport/rate-limit.ts';
import { agent, startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { exchange, readAnswers, requestText } from '../../helpers/wire.ts';
import { updateBot, WEB } from './visitors.ts';

/** The bounds of the page's scripts and style sheets together, and of the widget, compressed, in bytes. */
const MAX_OF_PAGE = 60_000;
const MAX_OF_WIDGET = 5_000;

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot(WEB);
});

const get = (path: string) => fetch(app.url + path, { headers: { accept: 'text/html' } });

/** The bytes of a response's body, as they are sent. */
async function weigh(path: string, encoding: string): Promise<number> {
  const bytes = await exchange(
    app.url,
    requestText(`GET ${path}`, { 'accept-encoding': encoding }),
  );
  expect(readAnswers(bytes)[0]?.headers.get('content-encoding')).toBe(encoding);
  return bytes.length - bytes.indexOf('\r\n\r\n') - 4;
}

const policyOf = ({ headers }: Response) => headers.get('content-security-policy');

describe('the chat page of a bot', () => {
  test('loads only this server’s own files, and no other page may contain it', async () => {
    const answer = await get(`/chat/${bot}`);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    expect(policyOf(answer)).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const page = await answer.text();
    expect(page).toContain('<title>Test</title>');
    expect(page).not.toMatch(/<style|<script(?![^>]+src=)|\sstyle=|\son\w+=|{{/);
  });

  test('may be contained by pages of the bot’s webOrigins', async () => {
    const framed = await tenant.bot(WEB);
    const ancestors = async () =>
      /frame-ancestors ([^;]*)/.exec(policyOf(await get(`/chat/${framed}`)) ?? '')?.[1];
    await updateBot(tenant, framed, { webOrigins: ['https://a.example', 'http://localhost:3000'] });
    expect(await ancestors()).toBe('https://a.example http://localhost:3000');
    await updateBot(tenant, framed, { webOrigins: ['https://a.example', '*'] });
    expect(await ancestors()).toBe('*');
  });

  test('holds a name and texts with markup as text', async () => {
    const hostile = await tenant.bot(`channel web { welcome "</div><script>\\"'&{{bot}}" }`);
    const page = await (await get(`/chat/${hostile}`)).text();
    expect(page).not.toContain('<script>');
    expect(page).toContain('&#60;script&#62;');
    expect(page).toContain('{{bot}}');
  });

  test('is the same for a bot without the web channel as for no bot', async () => {
    const [hidden, staged] = [await tenant.bot(), await tenant.bot(WEB, 'STAGING')];
    const pages: unknown[][] = [];
    for (const path of [hidden, staged, 'no-such-bot', 'a%20b', '%00'].map((id) => `/chat/${id}`)) {
      const answer = await get(path);
      const { status, headers } = answer;
      pages.push([status, headers.get('content-type'), policyOf(answer), await answer.text()]);
    }
    expect(pages).toEqual(pages.map(() => pages[0]));
    expect(pages[0]?.[0]).toBe(404);
    expect(pages[0]?.[3]).toContain('There is no chat page here');
    expect(pages[0]?.[3]).toMatch(/<link rel="stylesheet" .*\/assets\/chat\//);
    expect(pages[0]?.[3]).not.toContain('<script');
  });

  test('is revalidated by its entity tag, which changes with the deployment and the policy', async () => {
    const shown = await tenant.bot(WEB);
    const ask = (etag = '') =>
      fetch(`${app.url}/chat/${shown}`, { headers: { 'if-none-match': etag } });
    const tags = new Set<string>();
    const expectNew = async (etag = '') => {
      const answer = await ask(etag);
      expect(answer.status).toBe(200);
      const tag = answer.headers.get('etag') ?? '';
      expect(tag).toMatch(/^W\/"[\da-f]{16}"$/);
      expect(tags).not.toContain(tag);
      tags.add(tag);
      const again = await ask(tag);
      expect([again.status, await again.text()]).toEqual([304, '']);
      expect(policyOf(again)).toBe(policyOf(answer));
      expect(again.headers.get('cache-control')).toBe('no-cache');
      return tag;
    };
    const first = await expectNew();
    await updateBot(tenant, shown, { webOrigins: ['https://a.example'] });
    const second = await expectNew(first);
    await tenant.graphql(
      'mutation ($bot: ID!, $input: DeployInput!) { deploy(botId: $bot, input: $input) { id } }',
      { bot: shown, input: { source: agent('channel web { welcome "New" }') } },
    );
    await expectNew(second);
    // A page of another bot with the same texts differs in the bot's id.
    const other = await fetch(`${app.url}/chat/${bot}`, { headers: { 'if-none-match': first } });
    expect(other.status).toBe(200);
  });

  test('has the title and the accent of the definition, and a rollback restores them', async () => {
    const branded = await tenant.bot('channel web { title "ACME <desk>" accent "#403CBF" }');
    const { id } = await app.prisma.deployment.findFirstOrThrow({ where: { botId: branded } });
    const shown = async () => {
      const page = await (await get(`/chat/${branded}`)).text();
      return [/<title>(.*)<\/title>/.exec(page)?.[1], page.includes('#403CBF')];
    };
    const first = ['ACME &#60;desk&#62;', true];
    expect(await shown()).toEqual(first);
    await tenant.graphql(
      'mutation ($bot: ID!, $input: DeployInput!) { deploy(botId: $bot, input: $input) { id } }',
      { bot: branded, input: { source: agent('channel web') } },
    );
    expect(await shown()).toEqual(['Test', false]);
    await tenant.graphql(
      'mutation ($bot: ID!, $id: ID!) { rollback(botId: $bot, deploymentId: $id) { id } }',
      { bot: branded, id },
    );
    expect(await shown()).toEqual(first);
    const { data } = await tenant.graphql(
      'query ($id: ID!) { bot(id: $id) { chatPage { name title accent } } }',
      { id: branded },
    );
    expect(data.bot.chatPage).toEqual({ name: 'Test', title: 'ACME <desk>', accent: '#403CBF' });
  });

  test.for([
    ['a colour that nobody can read', 'accent "#ffee00"', 'low-contrast'],
    ['a title of 10,000 characters', `title "${'t'.repeat(10_000)}"`, 'too-long'],
  ])('is not deployed with %s', async ([, setting, code]) => {
    const kept = await tenant.bot(WEB);
    const { data } = await tenant.graphql(
      'mutation ($bot: ID!, $input: DeployInput!) { deploy(botId: $bot, input: $input) { status diagnostics { code } } }',
      { bot: kept, input: { source: agent(`channel web { ${setting} }`) } },
    );
    expect(data.deploy).toEqual({ status: 'FAILED', diagnostics: [{ code }] });
    expect((await get(`/chat/${kept}`)).status).toBe(200);
  });

  test('is rendered once for a deployment', async () => {
    const http = fastify();
    atTheEnd(() => http.close());
    let rendered = 0;
    const page = {
      deploymentId: 'dep_1',
      name: 'Desk',
      title: 'Desk',
      accent: undefined,
      suggestions: [],
      get welcome() {
        rendered += 1;
        return 'Hi';
      },
    };
    await http.register(serveChatPages, {
      findVisited: async () => ({ bot: { webOrigins: [] } }) as unknown as Visited,
      chatPages: { find: async ([id = '']) => new Map([[id, page]]) },
      limiter: { admitFile: async () => {}, admitLookup: async () => ({}) } as unknown as Limiter,
    });
    for (let visits = 0; visits < 3; visits += 1)
      expect((await http.inject('/chat/desk')).body).toContain('Hi');
    expect(rendered).toBe(1);
  });

  test('cuts the texts of a definition that was deployed before they had bounds', async () => {
    const long = await tenant.bot(WEB);
    const { id } = await app.prisma.deployment.findFirstOrThrow({ where: { botId: long } });
    const suggestions = Array.from({ length: 21 }, (_, index) => `"${index}${'&'.repeat(3_000)}"`);
    const source = agent(
      `channel web { welcome "${'&'.repeat(100_000)}" suggestions ${suggestions.join(', ')} }`,
    ).replace(/agent "\w+"/, `agent "${'<'.repeat(50_000)}"`);
    const asked = { bot: long, input: { source } };
    const { data } = await tenant.graphql(
      'mutation ($bot: ID!, $input: DeployInput!) { deploy(botId: $bot, input: $input) { status diagnostics { code } } }',
      asked,
    );
    expect(data.deploy.status).toBe('FAILED');
    expect(new Set(data.deploy.diagnostics.map(({ code }: { code: string }) => code))).toEqual(
      new Set(['too-long', 'too-many']),
    );
    await app.prisma.deployment.update({ where: { id }, data: { source } });

    const answer = await get(`/chat/${long}`);
    expect(answer.status).toBe(200);
    expect((await answer.arrayBuffer()).byteLength).toBeLessThan(30 * 1_024);
    const read = await tenant.graphql(
      'query ($id: ID!) { bot(id: $id) { chatPage { name welcome suggestions } } }',
      { id: long },
    );
    const { name, welcome, suggestions: cut } = read.data.bot.chatPage;
    expect(name).toBe(`${'<'.repeat(199)}…`);
    expect(welcome).toBe(`${'&'.repeat(1_999)}…`);
    expect(cut).toHaveLength(8);
    expect(cut[7]).toBe(`7${'&'.repeat(198)}…`);
    // It also goes on after a rollback to it.
    const rolledBack = await tenant.graphql(
      'mutation ($bot: ID!, $id: ID!) { rollback(botId: $bot, deploymentId: $id) { status } }',
      { bot: long, id },
    );
    expect(rolledBack.data.rollback.status).toBe('DEPLOYED');
  });

  test('weighs less than 60 kB, compressed, with its fonts', async () => {
    const page = await (await get(`/chat/${bot}`)).text();
    const files = [...page.matchAll(/"(\/assets\/chat\/[^"]+\.(?:js|css))"/g)].map(
      ([, path = '']) => path,
    );
    expect(files.length).toBeGreaterThanOrEqual(2);
    // The page has no font of its own: a style that loads one would add it here.
    const styles = files.filter((path) => path.endsWith('.css'));
    for (const path of styles)
      expect(await (await get(path)).text()).not.toMatch(/@font-face|url\(/);
    for (const encoding of ['br', 'gzip']) {
      const sizes = await Promise.all(files.map((file) => weigh(file, encoding)));
      const size = sizes.reduce((sum, one) => sum + one, 0);
      console.log(
        `The chat page: ${(size / 1_000).toFixed(1)} kB of scripts and styles, ${encoding}.`,
      );
      expect(size).toBeLessThan(MAX_OF_PAGE);
    }
  });
});

describe('the widget', () => {
  test('is one classic script of less than 5 kB, compressed, that pages of any origin may load', async () => {
    const answer = await get('/widget.js');
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300, stale-while-revalidate=86400',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^W?\/?".+"$/),
    });
    expect(await answer.text()).not.toMatch(/\bimport\b|\bexport\b|\beval\b|innerHTML/);
    const size = await weigh('/widget.js', 'gzip');
    console.log(`The widget: ${(size / 1_000).toFixed(1)} kB, gzip.`);
    expect(size).toBeLessThan(MAX_OF_WIDGET);
  });

  test('is revalidated', async () => {
    const etag = (await get('/widget.js')).headers.get('etag') ?? '';
    const again = await fetch(`${app.url}/widget.js`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
  });
});
