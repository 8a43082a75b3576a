import { beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../../helpers/app.ts';
import { createTestDeploy } from '../../helpers/deploy.ts';
import { type Site, startSite } from '../../helpers/site.ts';

let app: TestApp;
let tenant: Tenant;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
  tenant = await app.tenant();
  return () => site.close();
});

/** The attributes of the spans of a chat, by the spans' names. */
const chat = async (bot: string) => {
  const response = await tenant.chat(bot, { message: 'Hi' });
  const id = response.headers.get('x-run-id');
  const { data } = await tenant.graphql(
    'query ($id: ID!) { run(id: $id) { trace { spans { name attributes } } } }',
    { id },
  );
  const { spans } = data.run.trace as { spans: { name: string; attributes: object }[] };
  return new Map(spans.map(({ name, attributes }) => [name, attributes]));
};

/** A bot that calls a tool at an address. */
const toolBot = async (address: string) => {
  const botId = await tenant.bot(null);
  await createTestDeploy({ prisma: app.prisma, cipher: testCipher })({
    action: 'DEPLOY',
    botId,
    environment: 'PRODUCTION',
    source: agent(`tools shop { capability lookup "Looks orders up" { get "${address}" } }`),
    envVars: { SHOP: new URL(`http://${site.host}`).hostname },
    unsetEnvVars: [],
  });
  return botId;
};

describe('the attributes of a span', () => {
  test('have the host of a tool if the definition writes it out, not if a variable has it', async () => {
    site.handle((_request, response) => response.end('{}'));
    const attributesOf = async (address: string) => {
      let calls = 0;
      app.upstream.script(({ call, say, end }) => {
        calls += 1;
        if (calls === 1) return call(['shop_lookup', {}]);
        say('Done.');
        end();
      });
      return (await chat(await toolBot(address))).get('execute_tool shop.lookup');
    };
    const { hostname, port } = new URL(`http://${site.host}`);
    for (const address of [`http://${site.host}/orders`, `http://${site.host}`])
      expect(await attributesOf(address)).toMatchObject({
        'server.address': hostname,
        'http.response.status_code': 200,
      });
    const hidden = await attributesOf(`http://{{ env.SHOP }}:${port}/orders`);
    expect(hidden).toMatchObject({ 'http.response.status_code': 200 });
    expect(JSON.stringify(hidden)).not.toContain(hostname);
  });

  test('have the requests of a model call that was repeated', async () => {
    const bot = await tenant.bot();
    let requests = 0;
    app.upstream.script(({ response, say, end }) => {
      requests += 1;
      if (requests === 1) {
        response.writeHead(429, { 'retry-after-ms': '1' }).end();
        return;
      }
      say('Now.');
      end();
    });
    const name = 'chat scripted';
    expect((await chat(bot)).get(name)).toMatchObject({ 'parley.model.attempts': 2 });
    expect((await chat(bot)).get(name)).not.toHaveProperty('parley.model.attempts');
  });
});
