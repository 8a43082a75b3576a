import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { bundleOf } from '../client/bundle.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';
import { type Site, startSite } from '../helpers/site.ts';
import { hello } from '../helpers/upstream.ts';

/** A site of another origin, whose pages use the client. */
let shop: Site;
let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  shop = await startSite();
  atTheEnd(shop.close);
  const folder = join(import.meta.dirname, '../../src/client');
  const code = await bundleOf("export * from './index.ts';", folder);
  shop.handle(({ url }, response) => {
    const isScript = url === '/client.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? code : '<!doctype html><title>Shop</title>');
  });
  app = await startApp({ allowedOrigins: [shop.origin] });
  tenant = await app.tenant();
  bot = await tenant.bot();
});

async function tokenFor(sessionId: string): Promise<string> {
  const { data } = await tenant.graphql(
    `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "${sessionId}" }) { token } }`,
  );
  return data.createSessionToken.token;
}

type Visit = { module: string; baseUrl: string; bot: string; token: string };

/** Opens a page of the shop, and runs a function in it. */
async function inShop<Result>(
  sessionId: string,
  visit: (visit: Visit) => Promise<Result>,
): Promise<Result> {
  const page = await openBlankPage();
  await page.goto(shop.origin);
  const token = await tokenFor(sessionId);
  return page.evaluate(visit, {
    module: `${shop.origin}/client.js`,
    baseUrl: app.url,
    bot,
    token,
  });
}

describe('a page of another origin', () => {
  browserTest('chats with the client and a session token, whole and streamed', async () => {
    const seen = await inShop('user-1', async ({ module, baseUrl, bot, token }) => {
      const { Parley } = await import(module);
      const parley = new Parley({ sessionToken: token, baseUrl });
      const { response } = await parley.chat(bot, { message: 'Hi' });
      const deltas: string[] = [];
      const stream = parley.chatStream(bot, { message: 'Hi' });
      for await (const delta of stream) deltas.push(delta);
      const { tokensUsed } = await stream.finalReply();
      return { response, deltas, tokensUsed, limit: parley.limits.limit };
    });
    expect(seen).toEqual({
      response: 'Hello there.',
      deltas: ['Hello', ' ', 'there.'],
      tokensUsed: 15,
      limit: 1_000_000,
    });
  });

  browserTest('cancels the run of a stream that it leaves', async () => {
    app.upstream.script(async ({ say, closed }) => {
      say('Once');
      await closed;
    });
    await inShop('user-2', async ({ module, baseUrl, bot, token }) => {
      const { Parley } = await import(module);
      const parley = new Parley({ sessionToken: token, baseUrl });
      for await (const _delta of parley.chatStream(bot, { message: 'Hi' })) break;
    });
    await expect
      .poll(() => app.prisma.run.findFirst({ where: { botId: bot, sessionId: 'user-2' } }))
      .toMatchObject({ status: 'CANCELLED' });
    app.upstream.script(hello);
  });

  browserTest('cannot make a client with a key', async () => {
    const message = await inShop('user-3', async ({ module, baseUrl }) => {
      const { Parley } = await import(module);
      try {
        new Parley({ apiKey: 'parley_sk_test', baseUrl });
      } catch (error) {
        return error instanceof Error ? error.message : undefined;
      }
    });
    expect(message).toContain('A page must not hold an apiKey.');
  });
});
