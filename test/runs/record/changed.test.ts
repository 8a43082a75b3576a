import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { createRedisPubSub } from '../../../src/coordination/pubsub.ts';
import { agent, startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { linkRedis } from '../../helpers/redis.ts';
import { recordStatements } from '../../helpers/statements.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

type Change = { id: string; status: string; [field: string]: unknown };

/** Subscribes over a WebSocket, and repeats `cause` until the first event arrives. */
async function watch(field: string, fields: string, cause: () => Promise<unknown>) {
  const changes: Change[] = [];
  const client = createClient({
    url: app.webSocketUrl,
    connectionParams: { Authorization: tenant.headers.authorization },
  });
  client.subscribe<{ changed: Change }>(
    { query: `subscription { changed: ${field} { ${fields} } }` },
    {
      next: ({ data }) => {
        if (data) changes.push(data.changed);
      },
      error: () => {},
      complete: () => {},
    },
  );
  onTestFinished(() => client.dispose());
  await expect
    .poll(async () => {
      await cause();
      return changes.length;
    })
    .toBeGreaterThan(0);
  return changes;
}

const chat = (botId = bot) => tenant.chat(botId, { message: 'Hi' });
const execute = (input: string) =>
  tenant.graphql(`mutation { execute(botId: "${bot}", input: { ${input} }) { id } }`);
const ofRun = (changes: Change[], id: string) => changes.filter((run) => run.id === id);

describe('runChanged', () => {
  test('emits a run when it is queued, when it begins and when it ends', async () => {
    const changes = await watch(`runChanged(botId: "${bot}")`, 'id status response', () => chat());
    const { data } = await execute('prompt: "Go", background: true');
    const { id } = data.execute;
    await expect.poll(() => ofRun(changes, id).at(-1)?.status).toBe('COMPLETED');
    expect(ofRun(changes, id).at(-1)).toEqual({
      id,
      status: 'COMPLETED',
      response: 'Hello there.',
    });
  });

  test('reads each change once for all subscribers of a key with the same question', async () => {
    const SUBSCRIBERS = 40;
    const received = new Map<number, Change[]>();
    const client = createClient({
      url: app.webSocketUrl,
      connectionParams: { Authorization: tenant.headers.authorization },
    });
    onTestFinished(() => client.dispose());
    const query = `subscription { changed: runChanged(botId: "${bot}", filter: { kind: CHAT }) { id status input response } }`;
    for (let index = 0; index < SUBSCRIBERS; index += 1) {
      const changes: Change[] = [];
      received.set(index, changes);
      const next = ({ data }: { data?: { changed: Change } | null }) => {
        if (data) changes.push(data.changed);
      };
      client.subscribe<{ changed: Change }>(
        { query },
        { next, error: () => {}, complete: () => {} },
      );
    }
    const all = [...received.values()];
    await expect
      .poll(async () => {
        await chat();
        return all.every(({ length }) => length > 0);
      })
      .toBe(true);
    const log = recordStatements();
    const { run_id: id } = await (await chat()).json();
    const ends = () => all.flatMap((changes) => ofRun(changes, id).at(-1)?.status ?? []);
    await expect.poll(ends).toEqual(all.map(() => 'COMPLETED'));
    expect(ofRun(all[0] ?? [], id).at(-1)).toMatchObject({ input: 'Hi', response: 'Hello there.' });
    // The run's own two, and those of two changes: the filter, the row, and its texts.
    const about = log.texts().filter((text) => text.includes(id));
    expect(about.length).toBeLessThan(12);
  });

  test('emits a run that is cancelled', async () => {
    app.upstream.script(async ({ say, closed }) => {
      say('One ');
      await closed;
    });
    const changes = await watch(
      `runChanged(botId: "${bot}", filter: { status: [RUNNING, CANCELLED] })`,
      'id status',
      () => execute('prompt: "Go", background: true'),
    );
    const id = changes[0]?.id ?? '';
    expect(changes[0]?.status).toBe('RUNNING');
    await tenant.graphql(`mutation { cancelRun(id: "${id}") { id } }`);
    await expect.poll(() => ofRun(changes, id).at(-1)?.status).toBe('CANCELLED');
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

  test('emits only runs of this bot that match the filter', async () => {
    const other = await tenant.bot();
    const changes = await watch(
      `runChanged(botId: "${bot}", filter: { kind: EXECUTE, status: [COMPLETED], channel: [API], environment: PRODUCTION })`,
      'id status kind bot { id }',
      async () => {
        await chat();
        await chat(other);
        await execute('prompt: "Go"');
      },
    );
    await execute('prompt: "Once more"');
    await expect.poll(() => changes.length).toBeGreaterThan(1);
    for (const run of changes) {
      expect(run).toMatchObject({ status: 'COMPLETED', kind: 'EXECUTE', bot: { id: bot } });
    }
  });

  test('requires the scope RUNS', async () => {
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

  test('emits deployments that succeed, that fail and that are rolled back to', async () => {
    const changes = await watch(`deploymentChanged(botId: "${bot}")`, 'id status active', () =>
      deploy(agent()),
    );
    expect(changes[0]).toMatchObject({ status: 'DEPLOYED' });
    const { data } = await deploy('nothing of the kind');
    await expect.poll(() => changes.at(-1)?.id).toBe(data.deploy.id);
    expect(changes.at(-1)).toMatchObject({ status: 'FAILED', active: false });
    const { data: back } = await tenant.graphql(
      `mutation { rollback(botId: "${bot}", deploymentId: "${changes[0]?.id}") { id } }`,
    );
    await expect.poll(() => changes.at(-1)).toMatchObject({ id: back.rollback.id, active: true });
  });

  test('resolves the lists of the bot anew for each event', async () => {
    const changes = await watch(
      `deploymentChanged(botId: "${bot}")`,
      'id bot { deployments(first: 1) { edges { node { id } } } }',
      () => deploy(agent()),
    );
    const { data } = await deploy('nothing of the kind');
    const { id } = data.deploy;
    await expect
      .poll(() => changes.at(-1))
      .toEqual({ id, bot: { deployments: { edges: [{ node: { id } }] } } });
  });
});

test.skipIf(!inject('redisUrl'))(
  'a replica that shuts down notifies the other replicas of the end of its run',
  async () => {
    const [one, other] = await Promise.all([linkRedis(), linkRedis()]);
    const replica = await startApp({ redis: one.redis });
    const tenant = await replica.tenant();
    const own = await tenant.bot();
    const pubsub = createRedisPubSub(other.redis);
    const changes: string[] = [];
    pubsub.subscribe(`runs:${own}`, (message) => changes.push(message));
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
    await expect.poll(() => changes).toEqual([id]);
    await replica.close();
    await one.redis.close();
    await expect.poll(() => changes).toEqual([id, id]);
    await response.text().catch(() => {});
  },
);
