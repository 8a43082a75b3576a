import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import {
  type CountStatements,
  dashboard,
  type QueryClient,
  queryClientOf,
  statementCounter,
} from '../helpers/statements.ts';

let app: TestApp;
let statements: CountStatements;
/** Clients with 1, 4 and 20 bots, which have 1, 3 and 5 records of each type. */
let clients: QueryClient[];
beforeAll(async () => {
  app = await startApp();
  statements = statementCounter();
  clients = [await makeClient(1, 1), await makeClient(4, 3), await makeClient(20, 5)];
});

const makeClient = async (botCount: number, count: number) => {
  const tenant = await dashboard(app, botCount, count);
  return queryClientOf(app, tenant.graphql, [tenant]);
};

/** The number of statements of a query for each client, about its first bot. */
const countsOf = async (query: (id: string | undefined) => string) => {
  const counts: number[] = [];
  for (const client of clients) counts.push(await statements(client, query(client.ids.Bot[0])));
  return counts;
};

const bots = (below: string) => `{ bots { edges { node { id ${below} } } } }`;
const STATS = 'stats(from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z")';
const RUN = 'id status trace { spans { name } }';

describe('a dashboard query', () => {
  test.each([
    ['bots', bots('name'), 2],
    [
      'bots with their active deployments',
      bots('activeDeployment { id status diagnostics { code } }'),
      5,
    ],
    [
      'bots with their active deployments in both environments',
      bots(
        'production: activeDeployment { id } staging: activeDeployment(environment: STAGING) { id }',
      ),
      6,
    ],
    [
      'bots of the account with their active deployments',
      '{ viewer { account { bots { edges { node { id activeDeployment { id } } } } } } }',
      4,
    ],
    ['bots with their last runs', bots(`runs(first: 1) { edges { node { ${RUN} } } }`), 5],
    [
      'bots with their active deployments and last runs',
      bots(`activeDeployment { id status } runs(first: 1) { edges { node { ${RUN} } } }`),
      7,
    ],
    [
      'bots with their last runs and failed runs',
      bots(
        `runs(first: 1) { edges { node { ${RUN} } } } failed: runs(first: 3, filter: { status: [FAILED] }) { edges { node { id } } }`,
      ),
      6,
    ],
    ['bots with their deployments', bots('deployments { edges { node { id status } } }'), 4],
    ['bots with their sessions', bots('sessions { edges { node { id } } }'), 4],
    [
      'bots with their sessions, messages and runs',
      bots(
        'sessions { edges { node { id memory { value } messages(first: 5) { edges { node { text run { status } } } } } } }',
      ),
      9,
    ],
    ['bots with the session of one user', bots('session(id: "user-0") { id lastSeenAt }'), 3],
    ['bots with their statistics', bots(`${STATS} { runs latencyP95 perDay { runs } }`), 4],
    [
      'keys with the bots that they are limited to',
      '{ viewer { account { apiKeys { id bots { id } } } } }',
      2,
    ],
  ])(
    'for %s takes the same number of statements for any number of records',
    async (_what, query, count) => {
      expect(await countsOf(() => query)).toEqual([count, count, count]);
    },
  );

  test.each([
    [
      'the runs of a bot with their traces and deployments',
      (id?: string) =>
        `{ runs(botId: "${id}") { edges { node { ${RUN} deployment { id } bot { name } } } } }`,
      5,
    ],
    [
      'the runs of a bot below the bot',
      (id?: string) =>
        `{ bot(id: "${id}") { name runs { edges { node { ${RUN} } } } activeDeployment { id } } }`,
      6,
    ],
    [
      'the runs of a bot with the latest deployments of that same bot',
      (id?: string) =>
        `{ runs(botId: "${id}") { edges { node { id bot { deployments(first: 1) { edges { node { id } } } } } } } }`,
      5,
    ],
    [
      'the messages of a session with their runs',
      (id?: string) =>
        `{ bot(id: "${id}") { session(id: "user-0") { messages { edges { node { text run { status tokensUsed } } } } } } }`,
      6,
    ],
  ])(
    'for %s takes the same number of statements for any number of records',
    async (_what, query, count) => {
      expect(await countsOf(query)).toEqual([count, count, count]);
    },
  );

  test('for 50 runs with their traces takes as many statements as for one', async () => {
    const client = await makeClient(1, 50);
    const page = (first: number) =>
      `{ bot(id: "${client.ids.Bot[0]}") { runs(first: ${first}) { edges { node { ${RUN} deployment { id } } } } } }`;
    expect([await statements(client, page(1)), await statements(client, page(50))]).toEqual([5, 5]);
  });
});
