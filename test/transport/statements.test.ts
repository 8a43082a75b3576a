import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
/** Everything that is said to the database, of whatever kind it is. */
const said = [vi.spyOn(PGlite.prototype, 'query'), vi.spyOn(pg.Client.prototype, 'query')];
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => {
  for (const spy of said) spy.mockRestore();
});

/** An account with so many bots, each with a deployment, a conversation and so many runs in it. */
const dashboard = async (bots: number, runs: number): Promise<Tenant> => {
  const tenant = await app.tenant();
  for (let bot = 0; bot < bots; bot += 1) {
    const id = await tenant.bot();
    for (let run = 0; run < runs; run += 1) {
      const answer = await tenant.chat(id, { message: 'Hi' }, { 'x-session-id': 'user-1' });
      expect(answer.status).toBe(200);
      await answer.text();
    }
  }
  return tenant;
};

/** How many statements an answer takes. Those of the background speak of no one's data. */
const statementsOf = async (tenant: Tenant, query: string) => {
  const bots = await app.prisma.bot.findMany({ where: { accountId: tenant.accountId } });
  const ofBots = { where: { bot: { accountId: tenant.accountId } }, select: { id: true } } as const;
  const runs = await app.prisma.run.findMany(ofBots);
  const deployments = await app.prisma.deployment.findMany(ofBots);
  const sessions = await app.prisma.session.findMany(ofBots);
  const rows = [...bots, ...runs, ...deployments, ...sessions];
  const names = [tenant.accountId, ...rows.map(({ id }) => id)];
  // What is remembered of the key is not part of the answer.
  await tenant.graphql('{ viewer { account { id } } }');
  for (const spy of said) spy.mockClear();
  const { errors } = await tenant.graphql(query);
  expect(errors).toBeUndefined();
  const texts = said.flatMap(({ mock }) =>
    mock.calls.map((call) => JSON.stringify(call.slice(0, 2))),
  );
  return texts.filter((text) => names.some((name) => text.includes(name))).length;
};

describe('what a dashboard asks', () => {
  let small: Tenant;
  let large: Tenant;
  beforeAll(async () => {
    small = await dashboard(1, 1);
    large = await dashboard(4, 3);
  });

  test.each([
    ['bots', '{ bots { edges { node { id name } } } }', 1],
    [
      'bots with what runs now',
      '{ bots { edges { node { id activeDeployment { id status diagnostics { code } } } } } }',
      3,
    ],
    [
      'bots with their deployments, by account',
      '{ viewer { account { bots { edges { node { id activeDeployment { id } } } } } } }',
      3,
    ],
  ])('%s, takes as many statements however many there are', async (_what, query, count) => {
    expect([await statementsOf(small, query), await statementsOf(large, query)]).toEqual([
      count,
      count,
    ]);
  });

  test.each([
    [
      'the runs of a bot with their traces and deployments',
      (id: string) =>
        `{ runs(botId: "${id}") { edges { node { id status deployment { id } bot { name } trace { spans { name } } } } } }`,
      4,
    ],
    [
      'the runs of a bot by way of the bot',
      (id: string) =>
        `{ bot(id: "${id}") { name runs { edges { node { id trace { spans { name } } } } } activeDeployment { id } } }`,
      5,
    ],
    [
      'the messages of a conversation with their runs',
      (id: string) =>
        `{ bot(id: "${id}") { session(id: "user-1") { messages { edges { node { text run { status tokensUsed } } } } } } }`,
      4,
    ],
  ])('%s, takes as many statements however many there are', async (_what, query, count) => {
    const counts = [];
    for (const tenant of [small, large]) {
      const bot = await app.prisma.bot.findFirstOrThrow({
        where: { accountId: tenant.accountId },
      });
      counts.push(await statementsOf(tenant, query(bot.id)));
    }
    expect(counts).toEqual([count, count]);
  });

  test('pages within a page take some statements for each of its entries, and no more', async () => {
    const query =
      '{ bots(first: 4) { edges { node { id runs(first: 1) { edges { node { id status trace { spans { name } } } } } } } } }';
    expect([await statementsOf(small, query), await statementsOf(large, query)]).toEqual([3, 9]);
  });
});
