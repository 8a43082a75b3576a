import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../helpers/app.ts';
import { createTestDeploy } from '../helpers/deploy.ts';

const KEY = 'orders-key-0123456789';

/** A shop's API, which echoes the key of each request. */
const requests: { method?: string; url?: string; authorization?: string; body: string }[] = [];
const shop = createServer(async (request: IncomingMessage, response) => {
  const { method, url, headers } = request;
  const body = (await Array.fromAsync<Buffer>(request)).join('');
  requests.push({ method, url, authorization: headers.authorization, body });
  if (url?.includes('A-404')) response.writeHead(404).end('No such order');
  else response.end(JSON.stringify({ order: 'A-1042', seen: headers.authorization }));
});

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  shop.listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const { port } = shop.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  app = await startApp({ allowedHosts: [host] });
  tenant = await app.tenant();
  bot = await tenant.bot(null);
  const deployNow = createTestDeploy({ prisma: app.prisma, cipher: testCipher });
  const { status } = await deployNow({
    action: 'DEPLOY',
    botId: bot,
    environment: 'PRODUCTION',
    source: agent(`tools orders {
    capability lookup "Find one order by its number" {
      input {
        order_id string   "Order number, such as A-1042"
        expand   boolean? "Include the order's lines"
      }
      get "http://${host}/orders/{{ input.order_id }}" {
        header "Authorization" "Bearer {{ env.ORDERS_KEY }}"
      }
    }
    capability refund "Refund an order" {
      input {
        order_id string
        reason   "damaged" | "late" | "other"
      }
      post "http://${host}/refunds" { header "Authorization" "Bearer {{ env.ORDERS_KEY }}" }
    }
    capability inward "Call what it must not" {
      input { port integer "Any" }
      get "http://169.254.169.254/{{ input.port }}"
    }
  }`),
    envVars: { ORDERS_KEY: KEY },
    unsetEnvVars: [],
  });
  expect(status).toBe('DEPLOYED');
});
afterAll(() => shop.close());

/** Sends one message, for which the model makes one tool call. @returns the reply and the tool result. */
const callOnce = async (name: string, input: unknown) => {
  let isFirst = true;
  app.upstream.script(({ call, say, end }) => {
    if (isFirst) call([name, input]);
    else {
      say('Done.');
      end();
    }
    isFirst = false;
  });
  const response = await tenant.chat(bot, { message: 'Hi' });
  expect(response.status).toBe(200);
  const reply = (await response.json()) as { response: string; tools_called: string[] };
  return { reply, result: app.upstream.requests.at(-1)?.body.messages.at(-1)?.content };
};

describe('an agent with HTTP tools', () => {
  test('calls them with secrets that the model never gets', async () => {
    const { reply, result } = await callOnce('orders_lookup', { order_id: 'A 1042', expand: true });
    expect(requests.at(-1)).toEqual({
      method: 'GET',
      url: '/orders/A%201042?expand=true',
      authorization: `Bearer ${KEY}`,
      body: '',
    });
    expect(JSON.parse(result ?? '')).toEqual({ order: 'A-1042', seen: 'Bearer [env.ORDERS_KEY]' });
    expect(reply).toMatchObject({ response: 'Done.', tools_called: ['orders.lookup'] });
    expect(JSON.stringify(app.upstream.requests)).not.toContain(KEY);
    expect(
      JSON.stringify(await app.prisma.message.findMany({ where: { run: { botId: bot } } })),
    ).not.toContain(KEY);
  });

  test('sends the input as JSON if the capability posts', async () => {
    await callOnce('orders_refund', { order_id: 'A-1042', reason: 'late' });
    expect(requests.at(-1)).toMatchObject({
      method: 'POST',
      url: '/refunds',
      body: '{"order_id":"A-1042","reason":"late"}',
    });
  });

  test.each<[string, string, unknown, string]>([
    [
      'an error of the server',
      'orders_lookup',
      { order_id: 'A-404' },
      'Error: HTTP 404: No such order',
    ],
    [
      'invalid input',
      'orders_refund',
      { order_id: 1, reason: 'none' },
      'Error: The input is not valid. order_id: must be a string; reason: must be one of "damaged", "late", "other"',
    ],
    [
      'a blocked address',
      'orders_inward',
      { port: 80 },
      'Error: Private and local addresses cannot be called, unless the operator lists host:port in PARLEY_ALLOWED_HOSTS.',
    ],
  ])('reports %s to the model', async (_what, name, input, error) => {
    const before = requests.length;
    const { reply, result } = await callOnce(name, input);
    expect(result).toBe(error);
    expect(reply.response).toBe('Done.');
    expect(requests.length).toBe(error.includes('404') ? before + 1 : before);
  });
});
