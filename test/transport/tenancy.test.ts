import { createClient } from 'graphql-sse';
import { beforeAll, describe, expect, test } from 'vitest';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

const CANARY = 'canary-0815';

let app: TestApp;
let tenant: Tenant;
/** A key of another account with every scope, and a bot of that account. */
let otherAccount: { secret: string; bot: string };
let foreignIds: Record<'bot' | 'deployment' | 'run' | 'session' | 'message' | 'key', string>;
let cursors: Record<'bots' | 'runs' | 'deployments' | 'sessions', string>;

const CURSORS = `query ($bot: ID!) {
  bots(first: 1) { pageInfo { endCursor } }
  bot(id: $bot) {
    runs(first: 1) { pageInfo { endCursor } }
    deployments(first: 1) { pageInfo { endCursor } }
    sessions(first: 1) { pageInfo { endCursor } }
  }
}`;

beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  const bot = await tenant.bot('', 'STAGING');
  const { data } = await tenant.graphql(
    `mutation ($bot: ID!) {
      chat(botId: $bot, input: { message: "${CANARY}", sessionId: "user-1", environment: STAGING }) {
        run { id deployment { id } }
      }
      createApiKey(input: { name: "K" }) { apiKey { id } }
    }`,
    { bot },
  );
  const { run } = data.chat;
  const message = await app.prisma.message.findFirstOrThrow({ where: { runId: run.id } });
  foreignIds = {
    bot,
    run: run.id,
    deployment: run.deployment.id,
    session: message.sessionKey,
    message: message.id,
    key: data.createApiKey.apiKey.id,
  };
  const found = (await tenant.graphql(CURSORS, { bot })).data;
  cursors = {
    bots: found.bots.pageInfo.endCursor,
    runs: found.bot.runs.pageInfo.endCursor,
    deployments: found.bot.deployments.pageInfo.endCursor,
    sessions: found.bot.sessions.pageInfo.endCursor,
  };
  const other = await app.tenant();
  otherAccount = {
    secret: await other.key({ scopes: Object.values(KeyScope) }),
    bot: await other.bot(),
  };
});

const request = (query: string, variables: object = {}) =>
  app.graphql(otherAccount.secret, query, variables);

describe('ids of another account', () => {
  test.each<[string, string, string]>([
    [
      'rollback',
      'mutation { rollback(botId: "OWN", deploymentId: "DEPLOYMENT") { id } }',
      'DEPLOYMENT_NOT_FOUND',
    ],
    [
      'promote',
      'mutation { promote(botId: "OWN", deploymentId: "DEPLOYMENT") { id } }',
      'DEPLOYMENT_NOT_FOUND',
    ],
    ['run', '{ run(id: "RUN", botId: "OWN") { id } }', 'RUN_NOT_FOUND'],
    ['cancelRun', 'mutation { cancelRun(id: "RUN", botId: "OWN") { id } }', 'RUN_NOT_FOUND'],
    ['revokeApiKey', 'mutation { revokeApiKey(id: "KEY", withCreated: true) { id } }', 'NOT_FOUND'],
    [
      'createApiKey',
      'mutation { createApiKey(input: { name: "K", botIds: ["BOT"] }) { secret } }',
      'BOT_ACCESS_DENIED',
    ],
    [
      'createBot',
      'mutation { createBot(input: { id: "BOT", name: "B" }) { id } }',
      'INVALID_REQUEST',
    ],
  ])('are refused together with an own bot: %s', async (_field, query, code) => {
    const filled = query
      .replace('OWN', otherAccount.bot)
      .replace('DEPLOYMENT', foreignIds.deployment)
      .replace('RUN', foreignIds.run)
      .replace('"KEY"', `"${foreignIds.key}"`)
      .replace('"BOT"', `"${foreignIds.bot}"`);
    const { errors } = await request(filled);
    expect(errors?.[0]?.extensions.code).toBe(code);
  });

  test('are null as nodes', async () => {
    const { data } = await request('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: Object.values(foreignIds),
    });
    expect(data.nodes).toEqual(Object.values(foreignIds).map(() => null));
  });

  test('match no own runs as a filter', async () => {
    const { data } = await request(
      'query ($bot: ID!, $id: ID!) { runs(botId: $bot, filter: { deploymentId: $id }) { edges { cursor } } }',
      { bot: otherAccount.bot, id: foreignIds.deployment },
    );
    expect(data.runs.edges).toEqual([]);
  });

  test.each([
    [
      'the events of a run',
      () => `runEvents(runId: "${foreignIds.run}") { __typename }`,
      'RUN_NOT_FOUND',
    ],
    [
      'the events of a run, with an own bot',
      () => `runEvents(runId: "${foreignIds.run}", botId: "${otherAccount.bot}") { __typename }`,
      'RUN_NOT_FOUND',
    ],
    [
      'the runs of a bot',
      () => `runChanged(botId: "${foreignIds.bot}") { id }`,
      'BOT_ACCESS_DENIED',
    ],
    [
      'the deployments of a bot',
      () => `deploymentChanged(botId: "${foreignIds.bot}") { id }`,
      'BOT_ACCESS_DENIED',
    ],
  ])('cannot be followed: %s', async (_what, field, code) => {
    const client = createClient({
      url: `${app.url}/graphql/stream`,
      headers: { authorization: `Bearer ${otherAccount.secret}` },
      retryAttempts: 0,
    });
    const results = await Array.fromAsync(client.iterate({ query: `subscription { ${field()} }` }));
    expect(results.map(({ errors }) => errors?.[0]?.extensions?.code)).toEqual([code]);
    client.dispose();
  });
});

describe('cursors of the lists of another account', () => {
  test('are positions in the own lists, and reveal nothing of the other account', async () => {
    for (const side of ['first: 10, after', 'last: 10, before']) {
      const { data, errors } = await request(
        `query ($bot: ID!, $bots: String!, $runs: String!, $deployments: String!, $sessions: String!) {
          bots(${side}: $bots) { edges { node { id } } }
          bot(id: $bot) {
            runs(${side}: $runs) { edges { node { id } } }
            deployments(${side}: $deployments) { edges { node { id bot { id } } } }
            sessions(${side}: $sessions) { edges { node { id } } }
          }
        }`,
        { bot: otherAccount.bot, ...cursors },
      );
      expect(errors).toBeUndefined();
      const text = JSON.stringify(data);
      for (const id of Object.values(foreignIds)) expect(text).not.toContain(id);
    }
  });
});
