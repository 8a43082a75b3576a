import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import { BEGIN } from '../../src/runs/life/statements.ts';
import type { Database } from '../../src/storage/database.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { cutError, withMember, withSql } from '../helpers/lossy-database.ts';
import { linkPostgres } from '../helpers/postgres.ts';

let app: TestApp;
let tenant: Tenant;
/** The number of responses to lose next, and of which statement; an empty text means transactions. */
let losing = { left: 0, of: '' };
const lose = (of = '') => {
  losing = { left: 1, of };
};

/** A database that runs each statement, and loses the responses that `losing` selects. */
function lossy(database: Database): Database {
  const { prisma } = database;
  const lost = <T>(answer: T): T => {
    losing.left -= 1;
    if (losing.left >= 0) throw cutError();
    return answer;
  };
  const transaction = async (...work: Parameters<PrismaClient['$transaction']>) => {
    const answer = await prisma.$transaction(...work);
    return losing.of === '' ? lost(answer) : answer;
  };
  const queryRaw = async (...statement: Parameters<PrismaClient['$queryRaw']>) => {
    const answer = await prisma.$queryRaw(...statement);
    const isSelected = losing.of !== '' && String(statement).includes(losing.of);
    return isSelected ? lost(answer) : answer;
  };
  const members: [keyof PrismaClient, unknown][] = [
    ['$transaction', transaction],
    ['$queryRaw', queryRaw],
  ];
  const client = members.reduce((inner, member) => withMember(inner, ...member), prisma);
  return withSql({ ...database, prisma: client }, async ({ statement, run }) => {
    const answer = await run();
    return losing.of === statement.text ? lost(answer) : answer;
  });
}

beforeAll(async () => {
  app = await startApp({ database: lossy(await testDatabase()) });
  tenant = await app.tenant();
});

const post = (bot: string, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/v1/bots/${bot}/${path}`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const deploymentsOf = (botId: string) =>
  app.prisma.deployment.findMany({ where: { botId }, orderBy: { id: 'asc' } });
const runsOf = (botId: string) => app.prisma.run.findMany({ where: { botId } });

describe('a deployment that was stored, though the response was lost', () => {
  test.each([
    ['without a key', {}],
    ['with a key', { 'idempotency-key': randomUUID() }],
  ])('is returned as stored, once: %s', async (_which, headers) => {
    const bot = await tenant.bot(null);
    lose();
    const answer = await post(bot, 'deploy', { agentlang: agent() }, headers);
    expect(losing.left).toBeLessThan(1);
    expect(answer.headers.get('idempotency-replayed')).toBeNull();
    const stored = await deploymentsOf(bot);
    expect(stored).toMatchObject([{ status: 'DEPLOYED' }]);
    expect(await answer.json()).toMatchObject({
      status: 'deployed',
      deployment_id: stored[0]?.id,
    });
  });

  test('is returned as stored for a rollback and a promotion', async () => {
    const bot = await tenant.bot('', 'STAGING');
    const [first] = await deploymentsOf(bot);
    lose();
    const rolledBack = await post(bot, `deployments/${first?.id}/rollback`, {});
    expect(rolledBack.status).toBe(200);
    expect(await deploymentsOf(bot)).toHaveLength(2);
    lose();
    const { data } = await tenant.graphql(
      `mutation { promote(botId: "${bot}", deploymentId: "${first?.id}") { id status } }`,
    );
    const stored = await deploymentsOf(bot);
    expect(stored).toHaveLength(3);
    expect(data.promote).toEqual({ id: stored[2]?.id, status: 'DEPLOYED' });
  });

  test.skipIf(!inject('databaseUrl'))(
    'is returned as stored if the network loses the response',
    async () => {
      const link = await linkPostgres();
      const linked = await startApp({ database: link.database });
      const bot = await tenant.bot(null);
      const lost = link.loseAnswers('COMMIT', 1);
      const answer = await fetch(`${linked.url}/v1/bots/${bot}/deploy`, {
        method: 'POST',
        headers: { ...tenant.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ agentlang: agent() }),
      });
      expect([answer.status, lost()]).toEqual([200, 1]);
      expect(await deploymentsOf(bot)).toHaveLength(1);
    },
  );
});

describe('a change that was stored, though the response was lost', () => {
  test('is one queued run', async () => {
    const bot = await tenant.bot();
    lose(BEGIN.text);
    const answer = await post(bot, 'execute', { prompt: 'Hi', background: true });
    const { run_id: id } = (await answer.json()) as { run_id: string };
    expect([answer.status, losing.left < 1]).toEqual([202, true]);
    await expect.poll(() => runsOf(bot)).toMatchObject([{ id, status: 'COMPLETED', attempt: 1 }]);
  });

  test.each(['chat', 'execute'])('is one run with its idempotency key: %s', async (path) => {
    const bot = await tenant.bot();
    lose(BEGIN.text);
    const key = { 'idempotency-key': randomUUID() };
    const body = path === 'chat' ? { message: 'Hi' } : { prompt: 'Hi' };
    const answer = await post(bot, path, body, key);
    expect([answer.status, losing.left < 1]).toEqual([200, true]);
    const again = await post(bot, path, body, key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.json()).toEqual(await answer.json());
    expect(await runsOf(bot)).toMatchObject([{ status: 'COMPLETED' }]);
  });

  test('is a cancelled run', async () => {
    const bot = await tenant.bot();
    const started = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, closed }) => {
      say('Well');
      started.resolve();
      await closed;
    });
    const body = { message: 'Hi', stream: true };
    const chat = await post(bot, 'chat', body, { accept: 'text/event-stream' });
    await started.promise;
    lose('cancel_requested');
    const answer = await post(bot, `runs/${chat.headers.get('x-run-id')}/cancel`, {});
    expect([answer.status, losing.left < 1]).toEqual([200, true]);
    expect(await answer.json()).toMatchObject({ status: 'cancelled' });
    await chat.text();
    app.upstream.script(({ say, end }) => {
      say('Hello.');
      end();
    });
  });

  test('is a fact in a session’s memory', async () => {
    const bot = await tenant.bot();
    lose();
    const { data } = await tenant.graphql(`mutation {
      setMemory(botId: "${bot}", sessionId: "known", name: "name", value: "Ada") { memory { name value } }
    }`);
    expect(losing.left).toBeLessThan(1);
    expect(data.setMemory.memory).toEqual([{ name: 'name', value: 'Ada' }]);
  });

  test('is a forgotten session', async () => {
    const bot = await tenant.bot();
    const session = { 'x-session-id': 'forgotten' };
    expect((await post(bot, 'chat', { message: 'Hi' }, session)).status).toBe(200);
    lose();
    const forget = `mutation { forgetSession(botId: "${bot}", sessionId: "forgotten") }`;
    expect((await tenant.graphql(forget)).data).toEqual({ forgetSession: true });
    expect(losing.left).toBeLessThan(1);
    expect(await runsOf(bot)).toMatchObject([{ input: '', response: null }]);
    expect(await app.prisma.session.count({ where: { botId: bot } })).toBe(0);
  });
});
