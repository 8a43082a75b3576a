import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';
import { expectProblems } from '../helpers/page-log.ts';

/** Another site, which serves one empty page. */
async function startSite(): Promise<{ server: Server; origin: string }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Shop</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  atTheEnd(() => server.close());
  return { server, origin: `http://127.0.0.1:${port}` };
}

let app: TestApp;
let tenant: Tenant;
let shop: string;
let unlisted: string;
beforeAll(async () => {
  shop = (await startSite()).origin;
  unlisted = (await startSite()).origin;
  app = await startApp({ allowedOrigins: [shop] });
  tenant = await app.tenant();
});

type Call = { url: string; webSocketUrl: string; token: string; query: string };

/** Runs in the page: chats over every transport. Returns the outcome of each. */
async function chatFromPage({ url, webSocketUrl, token, query }: Call) {
  const post = async (path: string, body: string, accept: string) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', accept },
      body: JSON.stringify({ query: body }),
    });
    const runId = response.headers.get('x-run-id');
    return `${runId ? 'run ' : ''}${await response.text()}`;
  };
  const overSocket = () =>
    new Promise<string>((resolve) => {
      const socket = new WebSocket(webSocketUrl, 'graphql-transport-ws');
      let received = '';
      socket.onopen = () =>
        socket.send(
          JSON.stringify({
            type: 'connection_init',
            payload: { Authorization: `Bearer ${token}` },
          }),
        );
      socket.onmessage = ({ data }) => {
        received += data;
        const { type } = JSON.parse(data);
        if (type === 'connection_ack') {
          socket.send(
            JSON.stringify({
              id: '1',
              type: 'subscribe',
              payload: { query: `subscription ${query}` },
            }),
          );
        }
        if (type === 'complete') socket.close();
      };
      socket.onclose = () => resolve(received || 'refused');
    });
  const outcomeOf = (answer: Promise<string>) => answer.catch(() => 'refused');
  return {
    http: await outcomeOf(post('/graphql', `mutation ${query}`, 'application/json')),
    events: await outcomeOf(post('/graphql/stream', `subscription ${query}`, 'text/event-stream')),
    socket: await overSocket(),
  };
}

describe('a page of another origin', () => {
  const chatAt = async (origin: string, problems: RegExp[] = []) => {
    const botId = await tenant.bot();
    const { data } = await tenant.graphql(
      `mutation { createSessionToken(input: { botId: "${botId}", sessionId: "user-1" }) { token } }`,
    );
    const page = await openBlankPage();
    for (const pattern of problems) expectProblems(page, pattern);
    await page.goto(origin);
    return await page.evaluate(chatFromPage, {
      url: app.url,
      webSocketUrl: app.webSocketUrl,
      token: data.createSessionToken.token,
      query: `{ chat(botId: "${botId}", input: { message: "Hi" }) { __typename } }`,
    });
  };

  browserTest('that is listed can chat with a session token over every transport', async () => {
    const { http, events, socket } = await chatAt(shop);
    expect(http).toMatch(/^run .*"ChatReply"/s);
    expect(events).toMatch(/"RunStarted".*"ChatDone"/s);
    expect(socket).toMatch(/connection_ack.*"RunStarted".*"ChatDone".*"complete"/s);
  });

  browserTest('that is not listed is refused by every transport', async () => {
    const problems = [/blocked by CORS policy/, /^WebSocket connection to .* failed/];
    expect(await chatAt(unlisted, problems)).toEqual({
      http: 'refused',
      events: 'refused',
      socket: 'refused',
    });
  });
});
