import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { expect, vi } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import type { Tenant, TestApp } from './app.ts';
import { makeApproval } from './approvals.ts';
import { atTheEnd } from './at-the-end.ts';
import { makeEvaluation } from './evaluations.ts';
import { makeRuns } from './runs.ts';

/** A client, and the ids of the records that it may query, by type. */
export type QueryClient = Pick<Tenant, 'graphql'> & { ids: Record<TypeName, string[]> };
type TypeName =
  | 'Account'
  | 'ApiKey'
  | 'Approval'
  | 'Evaluation'
  | 'Bot'
  | 'Deployment'
  | 'Message'
  | 'Run'
  | 'Session';

/** Counts the SQL statements of a query, which must succeed. */
export type CountStatements = (client: QueryClient, query: string) => Promise<number>;

/** The statements of this process, on either database, with their parameters. */
type StatementLog = {
  /** The statements since the last `clear`, as JSON. */
  texts(): string[];
  clear(): void;
};

/** Records all statements until the end of the test. */
export function recordStatements(): StatementLog {
  const spies = [
    vi.spyOn(PGlite.prototype, 'query'),
    vi.spyOn(PGlite.prototype, 'exec'),
    spyOnTransactions(),
    vi.spyOn(pg.Client.prototype, 'query'),
  ];
  atTheEnd(vi.restoreAllMocks);
  return {
    texts: () =>
      spies.flatMap(({ mock }) => mock.calls.map((call) => JSON.stringify(call.slice(0, 2)))),
    clear: () => {
      for (const spy of spies) spy.mockClear();
    },
  };
}

/** Counts the statements of queries about the client's objects. */
export function statementCounter(): CountStatements {
  const count = statementsAbout();
  return async ({ graphql, ids }, query) => {
    const act = async () => {
      const { errors } = await graphql(query);
      expect(errors, query).toBeUndefined();
    };
    await act();
    return count(Object.values(ids).flat(), act);
  };
}

/** Counts the statements of an action that contain one of some ids. The statements of background tasks contain none. */
export type CountStatementsAbout = (ids: string[], act: () => Promise<unknown>) => Promise<number>;

export function statementsAbout(): CountStatementsAbout {
  const log = recordStatements();
  // Freeze the clock, so that the caches of keys and bots do not expire: their statements do not count.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  return async (ids, act) => {
    log.clear();
    await act();
    return log.texts().filter((text) => ids.some((id) => text.includes(id))).length;
  };
}

/** Spies on the statements of transactions, which run on a separate object. */
function spyOnTransactions() {
  const { transaction } = PGlite.prototype;
  const spy = vi.fn();
  vi.spyOn(PGlite.prototype, 'transaction').mockImplementation(function (this: PGlite, work) {
    return transaction.call(this, (tx) => {
      const query: typeof tx.query = (...call) => {
        spy(...call);
        return tx.query(...call);
      };
      return work({ ...tx, query });
    });
  } as typeof transaction);
  return spy;
}

/** A client that may query these accounts. */
export async function queryClientOf(
  { prisma }: TestApp,
  graphql: QueryClient['graphql'],
  tenants: Tenant[],
): Promise<QueryClient> {
  const where = { accountId: { in: tenants.map(({ accountId }) => accountId) } };
  const ofAccount = { where, select: { id: true } } as const;
  const ofBots = { where: { bot: where }, select: { id: true } } as const;
  const idsOf = async (rows: Promise<{ id: string }[]>) => (await rows).map(({ id }) => id);
  return {
    graphql,
    ids: {
      Account: where.accountId.in,
      ApiKey: await idsOf(prisma.apiKey.findMany(ofAccount)),
      Approval: await idsOf(prisma.approval.findMany(ofBots)),
      Evaluation: await idsOf(prisma.evaluation.findMany(ofBots)),
      Bot: await idsOf(prisma.bot.findMany(ofAccount)),
      Deployment: await idsOf(prisma.deployment.findMany(ofBots)),
      Message: await idsOf(
        prisma.message.findMany({ where: { run: { bot: where } }, select: { id: true } }),
      ),
      Run: await idsOf(prisma.run.findMany(ofBots)),
      Session: await idsOf(prisma.session.findMany(ofBots)),
    },
  };
}

/** An account with this number of bots, of records in each bot (with a denied tool call of each run), and of keys restricted to the bots. */
export async function dashboard(app: TestApp, botCount: number, count: number): Promise<Tenant> {
  const { prisma } = app;
  const tenant = await app.tenant();
  const each = Array.from({ length: count }, (_, index) => index);
  const bots: string[] = [];
  while (bots.length < botCount) {
    const botId = await tenant.bot();
    bots.push(botId);
    const { deploymentId } = await prisma.activeDeployment.findFirstOrThrow({ where: { botId } });
    const staging = { botId, environment: 'STAGING', status: 'DEPLOYED', source: '' } as const;
    const ids = each.map(() => makeId('dep'));
    await prisma.deployment.createMany({
      data: ids.map((id) => ({ ...staging, id, rolledBackToId: deploymentId })),
    });
    await prisma.activeDeployment.create({
      data: { botId, environment: 'STAGING', deploymentId: ids[0] ?? deploymentId },
    });
    const runs = await makeRuns(
      app,
      botId,
      each.map((index) => ({ deploymentId, input: 'Hi', sessionId: `user-${index}` })),
    );
    for (const [index, { id }] of runs.entries()) {
      await makeEvaluation(app, botId);
      await makeApproval(app, botId, id, deploymentId, `user-${index}`);
    }
    const sessions = each.map((index) => ({ id: makeId('ses'), sessionId: `user-${index}` }));
    await prisma.session.createMany({
      data: sessions.map((session) => ({ ...session, botId, environment: 'PRODUCTION' })),
    });
    await prisma.message.createMany({
      data: sessions.flatMap(({ id: sessionKey }) =>
        runs.map(({ id: runId }, turn) => {
          const message = { role: 'USER', text: `Hi ${turn}` } as const;
          return { ...message, id: makeId('msg'), sessionKey, runId, turn, position: 0 };
        }),
      ),
    });
    await prisma.memoryEntry.createMany({
      data: sessions.flatMap(({ id: sessionKey }) =>
        each.map((index) => ({ sessionKey, name: `fact_${index}`, value: 'known' })),
      ),
    });
  }
  for (const _ of each) await tenant.key({ botIds: bots });
  return tenant;
}
