import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { updateBot, WEB } from './visitors.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const SVG =
  '<svg viewBox="0 0 9 9" onload="alert(1)"><script>alert(1)</script><path d="M0 0h9"/></svg>';
const base64 = (text: string) => Buffer.from(text).toString('base64');

const logoUrl = async (bot: string) => {
  const { data } = await tenant.graphql('query ($id: ID!) { bot(id: $id) { logoUrl } }', {
    id: bot,
  });
  return data.bot.logoUrl;
};

describe('the logo of a bot', () => {
  test('is sanitised, is served with its own policy, and is on the chat page', async () => {
    const bot = await tenant.bot(WEB);
    expect(await logoUrl(bot)).toBeNull();
    await updateBot(tenant, bot, { logo: base64(SVG) });
    const url = await logoUrl(bot);
    expect(url).toMatch(new RegExp(`^/chat/${bot}/logo/[\\da-f]{32}$`));
    for (const _ of ['stored', 'cached']) {
      const answer = await fetch(app.url + url);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('image/svg+xml');
      expect(answer.headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      );
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control')).toContain('immutable');
      expect(await answer.text()).toBe(
        '<svg viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9"></path></svg>',
      );
    }
    expect(await (await fetch(`${app.url}/chat/${bot}`)).text()).toContain(url);

    await updateBot(tenant, bot, { logo: base64(SVG.replace('h9', 'v9')) });
    const next = await logoUrl(bot);
    expect(next).not.toBe(url);
    expect((await fetch(app.url + next)).status).toBe(200);
    await updateBot(tenant, bot, { name: 'Renamed' });
    expect(await logoUrl(bot)).toBe(next);
    await updateBot(tenant, bot, { logo: null });
    expect(await logoUrl(bot)).toBeNull();
    expect(await app.prisma.botLogo.count({ where: { botId: bot } })).toBe(0);
    expect(await (await fetch(`${app.url}/chat/${bot}`)).text()).not.toContain('/logo/');
  });

  test('is found only by its address', async () => {
    const [bot, other] = [await tenant.bot(), await tenant.bot()];
    await updateBot(tenant, bot, { logo: base64(SVG) });
    const url = await logoUrl(bot);
    expect((await fetch(app.url + url)).status).toBe(200);
    const wrong = [
      url.slice(0, -1),
      `${url.slice(0, -1)}x`,
      url.replace(bot, other),
      '/chat/%00/logo/a',
    ];
    for (const path of wrong) expect((await fetch(app.url + path)).status).toBe(404);
  });

  test.for([
    ['a page', base64('<html></html>'), 'must be an SVG or PNG image'],
    ['a large file', 'A'.repeat(43_696), 'must not be larger than 32 KiB'],
    ['no base64', '<svg/>', 'must be base64'],
  ])('is refused if it is %s', async ([, logo, message]) => {
    const bot = await tenant.bot();
    const { errors } = await tenant.graphql(
      'mutation ($id: ID!, $logo: String) { updateBot(id: $id, input: { logo: $logo }) { id } }',
      { id: bot, logo },
    );
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ path: 'input.logo', message }],
    });
  });

  test('goes with its bot', async () => {
    const bot = await tenant.bot();
    await updateBot(tenant, bot, { logo: base64(SVG) });
    await tenant.graphql('mutation ($id: ID!) { deleteBot(id: $id) }', { id: bot });
    expect(await app.prisma.botLogo.count({ where: { botId: bot } })).toBe(0);
  });
});
