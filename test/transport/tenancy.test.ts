import { createClient } from 'graphql-sse';
import { beforeAll, describe, expect, test } from 'vitest';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

const CANARY = 'canary-0815';

let app: TestApp;
let tenant: Tenant;
/** A key of another account with every scope, and a bot of that account. */
let stranger: { secret: string; bot: string };
let theirs: Record<'bot' | 'deployment' | 'run' | 'session' | 'message' | 'key', string>;
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
  theirs = {
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
  stranger = {
    secret: await other.key({ scopes: Object.values(KeyScope) }),
    bot: await other.bot(),
  };
});

const ask = (query: string, variables: object = {}) =>
  app.graphql(stranger.secret, query, variables);

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
  ])('are refused beside the own bot: %s', async (_field, query, code) => {
    const filled = query
      .replace('OWN', stranger.bot)
      .replace('DEPLOYMENT', theirs.deployment)
      .replace('RUN', theirs.run)
      .replace('"KEY"', `"${theirs.key}"`)
      .replace('"BOT"', `"${theirs.bot}"`);
    const { errors } = await ask(filled);
    expect(errors?.[0]?.extensions.code).toBe(code);
  });

  test('are nothing, as nodes', async () => {
    const { data } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: Object.values(theirs),
    });
    expect(data.nodes).toEqual(Object.values(theirs).map(() => null));
  });

  test('filter nothing out of the own runs that is not there', async () => {
    const { data } = await ask(
      'query ($bot: ID!, $id: ID!) { runs(botId: $bot, filter: { deploymentId: $id }) { edges { cursor } } }',
      { bot: stranger.bot, id: theirs.deployment },
    );
    expect(data.runs.edges).toEqual([]);
  });

  test.each([
    ['of a run', () => `runEvents(runId: "${theirs.run}") { __typename }`, 'RUN_NOT_FOUND'],
    [
      'of a run, beside the own bot',
      () => `runEvents(runId: "${theirs.run}", botId: "${stranger.bot}") { __typename }`,
      'RUN_NOT_FOUND',
    ],
    ['of a bot', () => `runChanged(botId: "${theirs.bot}") { id }`, 'BOT_ACCESS_DENIED'],
    [
      'of its deployments',
      () => `deploymentChanged(botId: "${theirs.bot}") { id }`,
      'BOT_ACCESS_DENIED',
    ],
  ])('are not followed: %s', async (_what, field, code) => {
    const client = createClient({
      url: `${app.url}/graphql/stream`,
      headers: { authorization: `Bearer ${stranger.secret}` },
      retryAttempts: 0,
    });
    const results = await Array.fromAsync(client.iterate({ query: `subscription { ${field()} }` }));
    expect(results.map(({ errors }) => errors?.[0]?.extensions?.code)).toEqual([code]);
    client.dispose();
  });
});

describe('cursors of the lists of another account', () => {
  test('are places in the own lists, and show nothing of the others', async () => {
    for (const side of ['first: 10, after', 'last: 10, before']) {
      const { data, errors } = await ask(
        `query ($bot: ID!, $bots: String!, $runs: String!, $deployments: String!, $sessions: String!) {
          bots(${side}: $bots) { edges { node { id } } }
          bot(id: $bot) {
            runs(${side}: $runs) { edges { node { id } } }
            deployments(${side}: $deployments) { edges { node { id bot { id } } } }
            sessions(${side}: $sessions) { edges { node { id } } }
          }
        }`,
        { bot: stranger.bot, ...cursors },
      );
      expect(errors).toBeUndefined();
      const text = JSON.stringify(data);
      for (const id of Object.values(theirs)) expect(text).not.toContain(id);
    }
  });
});
