import { beforeAll, describe, expect, test } from 'vitest';
import { Entrance } from '../../src/generated/prisma/client.ts';
import { deploy, startTelegramApp, type TelegramApp } from '../channels/telegram/setup.ts';
import { askAsVisitor, visit } from '../channels/web/visitors.ts';
import { agent } from '../helpers/app.ts';
import { connectNewer, connectOlder } from '../helpers/mcp-clients.ts';
import { WAYS } from '../helpers/transports.ts';
import { hello } from '../helpers/upstream.ts';

let at: TelegramApp;
beforeAll(async () => {
  at = await startTelegramApp();
  at.app.upstream.script(hello);
});

const SOURCE = agent('channel web {} channel telegram { token env.TOKEN }');

/** A bot that every entrance reaches. */
async function reachable() {
  const bot = at.telegram.bot();
  const botId = await at.tenant.bot(null);
  await deploy(at.tenant, botId, bot.token, { source: SOURCE });
  return { bot, botId };
}

/** Sends a request to a path with the User-Agent of a client. */
const post = async (path: string, body: object, client: string) => {
  const answer = await fetch(`${at.app.url}${path}`, {
    method: 'POST',
    headers: { ...at.tenant.headers, 'content-type': 'application/json', 'user-agent': client },
    body: JSON.stringify(body),
  });
  await answer.text();
  expect(answer.status).toBeLessThan(300);
};

const CHAT = (botId: string) =>
  `mutation { chat(botId: "${botId}", input: { message: "Hi" }) { runId } }`;

/** The runs of a bot with the attributes of their traces, oldest first. */
const runsOf = async (botId: string, filter: object = {}) => {
  const { data, errors } = await at.tenant.graphql(
    `query ($bot: ID!, $filter: RunFilter) { runs(botId: $bot, first: 50, filter: $filter) { edges { node {
      id entrance channel trace { spans { attributes } }
    } } } }`,
    { bot: botId, filter },
  );
  expect(errors).toBeUndefined();
  const edges: {
    node: {
      id: string;
      entrance: string | null;
      channel: string;
      trace: { spans: { attributes: Record<string, unknown> }[] };
    };
  }[] = data.runs.edges;
  return edges.map(({ node }) => node).reverse();
};

describe('a run', () => {
  test('names the entrance through which its client requested it, and the client', async () => {
    const { bot, botId } = await reachable();
    const { app, tenant } = at;
    const openai = { model: botId, messages: [{ role: 'user', content: 'Hi' }] };
    await post(`/v1/bots/${botId}/chat`, { message: 'Hi' }, 'shop/2.1 (Linux) node');
    await post(`/v1/bots/${botId}/execute`, { prompt: 'Hi' }, 'curl/8.5.0');
    await post('/graphql', { query: CHAT(botId) }, 'Mozilla/5.0 (X11; Linux x86_64)');
    await WAYS.WebSocket(app, tenant.apiKey, { query: CHAT(botId) });
    await post('/v1/chat/completions', openai, 'OpenAI/Python 2.9.0');
    await post('/v1/chat/completions', { ...openai, stream: true }, 'OpenAI/JS 6.0.0');
    await post('/v1/responses', { model: botId, input: 'Hi' }, 'ai-sdk/openai/2.0.1 ai/5.0.0');
    for (const connect of [connectNewer, connectOlder]) {
      const client = await connect(app.url, {
        headers: { ...tenant.headers, 'user-agent': 'Claude-Code/2.0 (cli)' },
      });
      await client.call(botId, { message: 'Hi' });
      await client.close();
    }
    const { token } = await visit(app, botId);
    await askAsVisitor(app, token, CHAT(botId), { origin: app.url, 'user-agent': 'Firefox/140' });
    await bot.deliver(app.url, bot.text('Hi'));
    const telegram = { botId, channel: 'TELEGRAM', status: 'COMPLETED' } as const;
    await expect.poll(() => app.prisma.run.count({ where: telegram })).toBe(1);

    const runs = await runsOf(botId);
    const seen = runs.map(({ entrance, trace }) => {
      const attributes = trace.spans[0]?.attributes ?? {};
      expect(attributes['parley.entrance']).toBe(entrance?.toLowerCase());
      return [entrance, attributes['parley.client']];
    });
    expect(seen).toEqual([
      ['REST', 'shop/2.1'],
      ['REST', 'curl/8.5.0'],
      ['GRAPHQL', 'Mozilla/5.0'],
      ['GRAPHQL', undefined],
      ['OPENAI', 'OpenAI/Python'],
      ['OPENAI', 'OpenAI/JS'],
      ['OPENAI', 'ai-sdk/openai/2.0.1'],
      ['MCP', 'Claude-Code/2.0'],
      ['MCP', 'Claude-Code/2.0'],
      ['WEB', 'Firefox/140'],
      ['TELEGRAM', undefined],
    ]);

    for (const entrance of Object.values(Entrance)) {
      const ids = runs.filter((run) => run.entrance === entrance).map(({ id }) => id);
      expect((await runsOf(botId, { entrance: [entrance] })).map(({ id }) => id)).toEqual(ids);
      const listed = await fetch(
        `${app.url}/v1/bots/${botId}/runs?entrance=${entrance.toLowerCase()}`,
        { headers: tenant.headers },
      );
      const { runs: found } = (await listed.json()) as { runs: object[] };
      expect(found.reverse()).toMatchObject(
        ids.map((run_id) => ({ run_id, entrance: entrance.toLowerCase() })),
      );
    }
  });

  test('keeps the client of a background request until a worker executes it', async () => {
    const { botId } = await reachable();
    const body = { prompt: 'Hi', background: true };
    await post(`/v1/bots/${botId}/execute`, body, 'nightly-job/1');
    const responses = { model: botId, input: 'Hi', background: true };
    await post('/v1/responses', responses, 'OpenAI/JS 6.0.0');
    const done = { botId, status: 'COMPLETED' } as const;
    await expect.poll(() => at.app.prisma.run.count({ where: done })).toBe(2);
    const attributes = (await runsOf(botId)).map(({ trace }) => trace.spans[0]?.attributes);
    expect(attributes).toMatchObject([
      { 'parley.entrance': 'rest', 'parley.client': 'nightly-job/1' },
      { 'parley.entrance': 'openai', 'parley.client': 'OpenAI/JS' },
    ]);
  });

  test('of a channel has its entrance also from before the entrance was stored, one of the API has none', async () => {
    const { botId } = await reachable();
    const { app } = at;
    await post(`/v1/bots/${botId}/chat`, { message: 'Hi' }, 'x');
    await app.prisma.run.updateMany({ where: { botId }, data: { entrance: null } });
    expect(await runsOf(botId)).toMatchObject([{ channel: 'API', entrance: null }]);
    expect(await runsOf(botId, { entrance: ['REST', 'WEB'] })).toEqual([]);
    await app.prisma.run.updateMany({ where: { botId }, data: { channel: 'WEB' } });
    expect(await runsOf(botId, { entrance: ['REST', 'WEB'] })).toMatchObject([{ entrance: 'WEB' }]);
  });
});
