import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import {
  type QueryClient,
  queryClientOf,
  type CountStatements,
  dashboard,
  statementCounter,
} from '../helpers/statements.ts';

let app: TestApp;
let statements: CountStatements;
/** Those who have 1, 4 and 20 bots, of which each has 1, 3 and 5 of everything. */
let askers: QueryClient[];
beforeAll(async () => {
  app = await startApp();
  statements = statementCounter();
  askers = [await makeAsker(1, 1), await makeAsker(4, 3), await makeAsker(20, 5)];
});

const makeAsker = async (botCount: number, count: number) => {
  const tenant = await dashboard(app, botCount, count);
  return queryClientOf(app, tenant.graphql, [tenant]);
};

/** What a query takes for each of these, about the first of their bots. */
const countsOf = async (query: (id: string | undefined) => string) => {
  const counts: number[] = [];
  for (const asker of askers) counts.push(await statements(asker, query(asker.ids.Bot[0])));
  return counts;
};

const bots = (below: string) => `{ bots { edges { node { id ${below} } } } }`;
const STATS = 'stats(from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z")';
const RUN = 'id status trace { spans { name } }';

describe('what a dashboard asks', () => {
  test.each([
    ['bots', bots('name'), 2],
    ['bots with what runs now', bots('activeDeployment { id status diagnostics { code } }'), 5],
    [
      'bots with what runs in both environments',
      bots(
        'production: activeDeployment { id } staging: activeDeployment(environment: STAGING) { id }',
      ),
      6,
    ],
    [
      'bots with what runs now, by account',
      '{ viewer { account { bots { edges { node { id activeDeployment { id } } } } } } }',
      4,
    ],
    ['bots with their last runs', bots(`runs(first: 1) { edges { node { ${RUN} } } }`), 4],
    [
      'bots with what runs now and their last runs',
      bots(`activeDeployment { id status } runs(first: 1) { edges { node { ${RUN} } } }`),
      6,
    ],
    [
      'bots with their last runs and those that failed',
      bots(
        `runs(first: 1) { edges { node { ${RUN} } } } failed: runs(first: 3, filter: { status: [FAILED] }) { edges { node { id } } }`,
      ),
      5,
    ],
    ['bots with their deployments', bots('deployments { edges { node { id status } } }'), 4],
    ['bots with their conversations', bots('sessions { edges { node { id } } }'), 4],
    [
      'bots with what was said in their conversations, and in which runs',
      bots(
        'sessions { edges { node { id memory { value } messages(first: 5) { edges { node { text run { status } } } } } } }',
      ),
      8,
    ],
    ['bots with the conversation of one user', bots('session(id: "user-0") { id lastSeenAt }'), 3],
    ['bots with their statistics', bots(`${STATS} { runs latencyP95 perDay { runs } }`), 4],
    [
      'keys with the bots that they are limited to',
      '{ viewer { account { apiKeys { id bots { id } } } } }',
      2,
    ],
  ])('%s, takes as many statements however many there are', async (_what, query, count) => {
    expect(await countsOf(() => query)).toEqual([count, count, count]);
  });

  test.each([
    [
      'the runs of a bot with their traces and deployments',
      (id?: string) =>
        `{ runs(botId: "${id}") { edges { node { ${RUN} deployment { id } bot { name } } } } }`,
      4,
    ],
    [
      'the runs of a bot by way of the bot',
      (id?: string) =>
        `{ bot(id: "${id}") { name runs { edges { node { ${RUN} } } } activeDeployment { id } } }`,
      5,
    ],
    [
      'the runs of a bot with the latest deployments of that same bot',
      (id?: string) =>
        `{ runs(botId: "${id}") { edges { node { id bot { deployments(first: 1) { edges { node { id } } } } } } } }`,
      5,
    ],
    [
      'the messages of a conversation with their runs',
      (id?: string) =>
        `{ bot(id: "${id}") { session(id: "user-0") { messages { edges { node { text run { status tokensUsed } } } } } } }`,
      5,
    ],
  ])('%s, takes as many statements however many there are', async (_what, query, count) => {
    expect(await countsOf(query)).toEqual([count, count, count]);
  });

  test('50 runs with their traces take as many as one', async () => {
    const asker = await makeAsker(1, 50);
    const page = (first: number) =>
      `{ bot(id: "${asker.ids.Bot[0]}") { runs(first: ${first}) { edges { node { ${RUN} deployment { id } } } } } }`;
    expect([await statements(asker, page(1)), await statements(asker, page(50))]).toEqual([4, 4]);
  });
});
