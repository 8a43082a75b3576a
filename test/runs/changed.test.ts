import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { createRedisPubSub } from '../../src/coordination/pubsub.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { linkRedis } from '../helpers/redis.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

type Told = { id: string; status: string; [field: string]: unknown };

/** Subscribes over a WebSocket, and does something again and again until the first word of it comes. */
async function watch(field: string, fields: string, cause: () => Promise<unknown>) {
  const told: Told[] = [];
  const client = createClient({
    url: app.webSocketUrl,
    connectionParams: { Authorization: tenant.headers.authorization },
  });
  client.subscribe<{ told: Told }>(
    { query: `subscription { told: ${field} { ${fields} } }` },
    {
      next: ({ data }) => {
        if (data) told.push(data.told);
      },
      error: () => {},
      complete: () => {},
    },
  );
  onTestFinished(() => client.dispose());
  await expect
    .poll(
      async () => {
        await cause();
        return told.length;
      },
      { timeout: 10_000 },
    )
    .toBeGreaterThan(0);
  return told;
}

const chat = (botId = bot) => tenant.chat(botId, { message: 'Hi' });
const execute = (input: string) =>
  tenant.graphql(`mutation { execute(botId: "${bot}", input: { ${input} }) { id } }`);
const ofRun = (told: Told[], id: string) => told.filter((run) => run.id === id);

describe('runChanged', () => {
  test('tells of a run when it waits, begins and ends', async () => {
    const told = await watch(`runChanged(botId: "${bot}")`, 'id status response', () => chat());
    const { data } = await execute('prompt: "Go", background: true');
    const { id } = data.execute;
    await expect.poll(() => ofRun(told, id).at(-1)?.status).toBe('COMPLETED');
    expect(ofRun(told, id).at(-1)).toEqual({
      id,
      status: 'COMPLETED',
      response: 'Hello there.',
    });
  });

  test('tells of a run that is cancelled', async () => {
    app.upstream.script(async ({ say, closed }) => {
      say('One ');
      await closed;
    });
    const told = await watch(
      `runChanged(botId: "${bot}", filter: { status: [RUNNING, CANCELLED] })`,
      'id status',
      () => execute('prompt: "Go", background: true'),
    );
    const id = told[0]?.id ?? '';
    expect(told[0]?.status).toBe('RUNNING');
    await tenant.graphql(`mutation { cancelRun(id: "${id}") { id } }`);
    await expect.poll(() => ofRun(told, id).at(-1)?.status).toBe('CANCELLED');
    const { data } = await tenant.graphql(
      `{ runs(botId: "${bot}", filter: { status: [RUNNING, QUEUED] }) { edges { node { id } } } }`,
    );
    for (const { node } of data.runs.edges) {
      await tenant.graphql(`mutation { cancelRun(id: "${node.id}") { id } }`);
    }
    app.upstream.script(({ say, end }) => {
      say('Hello there.');
      end();
    });
  });

  test('tells of those alone that a filter lets through, and of no other bot', async () => {
    const other = await tenant.bot();
    const told = await watch(
      `runChanged(botId: "${bot}", filter: { kind: EXECUTE, status: [COMPLETED], channel: [API], environment: PRODUCTION })`,
      'id status kind bot { id }',
      async () => {
        await chat();
        await chat(other);
        await execute('prompt: "Go"');
      },
    );
    await execute('prompt: "Once more"');
    await expect.poll(() => told.length).toBeGreaterThan(1);
    for (const run of told) {
      expect(run).toMatchObject({ status: 'COMPLETED', kind: 'EXECUTE', bot: { id: bot } });
    }
  });

  test('is for keys that may see runs', async () => {
    const key = await tenant.key({ scopes: ['CHAT'] });
    const answer = await fetch(`${app.url}/graphql/stream`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: `subscription { runChanged(botId: "${bot}") { id } }` }),
    });
    expect(await answer.text()).toContain('INSUFFICIENT_SCOPE');
  });
});

describe('deploymentChanged', () => {
  const deploy = (source: string) =>
    tenant.graphql(
      'mutation ($bot: ID!, $source: String!) { deploy(botId: $bot, input: { source: $source }) { id status } }',
      { bot, source },
    );

  test('tells of what is deployed, and of what fails to be', async () => {
    const told = await watch(`deploymentChanged(botId: "${bot}")`, 'id status active', () =>
      deploy(agent()),
    );
    expect(told[0]).toMatchObject({ status: 'DEPLOYED' });
    const { data } = await deploy('nothing of the kind');
    await expect.poll(() => told.at(-1)?.id).toBe(data.deploy.id);
    expect(told.at(-1)).toMatchObject({ status: 'FAILED', active: false });
    const { data: back } = await tenant.graphql(
      `mutation { rollback(botId: "${bot}", deploymentId: "${told[0]?.id}") { id } }`,
    );
    await expect.poll(() => told.at(-1)).toMatchObject({ id: back.rollback.id, active: true });
  });

  test('tells of the bot’s lists as they are then, each time', async () => {
    const told = await watch(
      `deploymentChanged(botId: "${bot}")`,
      'id bot { deployments(first: 1) { edges { node { id } } } }',
      () => deploy(agent()),
    );
    const { data } = await deploy('nothing of the kind');
    const { id } = data.deploy;
    await expect
      .poll(() => told.at(-1))
      .toEqual({ id, bot: { deployments: { edges: [{ node: { id } }] } } });
  });
});

test.skipIf(!inject('redisUrl'))(
  'the end of a run that ends with its process is told to the other replicas',
  async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const replica = await startApp({ redis: one.redis });
    const tenant = await replica.tenant();
    const own = await tenant.bot();
    const pubsub = createRedisPubSub(other.redis);
    const told: string[] = [];
    pubsub.subscribe(`runs:${own}`, (message) => told.push(message));
    await other.redis.subscriber.ping();
    replica.upstream.script(async ({ say, closed }) => {
      say('Hi');
      await closed;
    });
    const response = await tenant.chat(
      own,
      { message: 'Hi', stream: true },
      { accept: 'text/event-stream' },
    );
    const id = response.headers.get('x-run-id');
    await expect.poll(() => told).toEqual([id]);
    await replica.close();
    await one.redis.close();
    await expect.poll(() => told).toEqual([id, id]);
    await response.text().catch(() => {});
  },
);
