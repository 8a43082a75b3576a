import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeId } from '../../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';

const MANY = 1_201;
const BATCH = 500;
const WHAT = {
  kind: 'EXECUTE',
  environment: 'PRODUCTION',
  channel: 'API',
  input: 'Hi',
} as const;

describe('the many runs of a bot', () => {
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.tenant();
    await app.prisma.$executeRaw`CREATE TABLE counted (bot_id text, what text, rows int)`;
    for (const what of ['UPDATE', 'DELETE'])
      for (const sql of [
        `CREATE FUNCTION count_${what}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO counted SELECT bot_id, TG_OP, count(*) FROM touched GROUP BY bot_id;
          RETURN NULL; END $$`,
        `CREATE TRIGGER count_${what} AFTER ${what} ON runs REFERENCING OLD TABLE AS touched
          FOR EACH STATEMENT EXECUTE FUNCTION count_${what}()`,
      ])
        await app.prisma.$executeRawUnsafe(sql);
    atTheEnd(async () => {
      for (const what of ['UPDATE', 'DELETE'])
        await app.prisma.$executeRawUnsafe(`DROP FUNCTION count_${what} CASCADE`);
      await app.prisma.$executeRaw`DROP TABLE counted`;
    });
  });
  afterAll(() => app.close());

  const counted = async (botId: string, what: string) => {
    const rows = await app.prisma.$queryRaw<{ rows: number }[]>`
      SELECT rows FROM counted WHERE bot_id = ${botId} AND what = ${what}`;
    return rows.map(({ rows }) => rows);
  };
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);

  const makeRuns = async (more: object, owner = tenant) => {
    const botId = await owner.bot();
    const ids = Array.from({ length: MANY }, () => makeId('run'));
    const status = 'COMPLETED' as const;
    const data = ids.map((id) => ({ id, botId, ...WHAT, status, ...more }));
    await app.prisma.run.createMany({ data });
    return { botId, ids };
  };

  test('are deleted in batches when the bot is deleted', async () => {
    const { botId } = await makeRuns({});
    const { data } = await tenant.graphql(`mutation { deleteBot(id: "${botId}") }`);
    expect(data).toEqual({ deleteBot: botId });
    const deleted = await counted(botId, 'DELETE');
    expect(Math.max(...deleted)).toBe(BATCH);
    expect(sum(deleted)).toBe(MANY);
    expect(await app.prisma.run.count({ where: { botId } })).toBe(0);
  });

  test('are cancelled in batches when the bot is deleted while they are queued', async () => {
    const free = await app.tenant({ plan: 'FREE' });
    const { accountId } = free;
    // The account's one active run keeps all others in the queue.
    const owner = await app.prisma.owner.findFirstOrThrow();
    const active = { status: 'RUNNING', background: true, ownerId: owner.id } as const;
    const data = { id: makeId('run'), botId: await free.bot(), accountId, ...WHAT, ...active };
    await app.prisma.run.create({ data });
    const waiting = { status: 'QUEUED', background: true, attempt: 0 } as const;
    const { botId } = await makeRuns({ accountId, ...waiting }, free);
    await free.graphql(`mutation { deleteBot(id: "${botId}") }`);
    const cancelled = await counted(botId, 'UPDATE');
    expect(Math.max(...cancelled)).toBe(BATCH);
    expect(sum(cancelled)).toBe(MANY);
    expect(await app.prisma.run.count({ where: { botId } })).toBe(0);
    await app.prisma.account.delete({ where: { id: accountId } });
  });

  test('are erased in batches when their session is forgotten', async () => {
    const sessionId = makeId('ses');
    const { botId, ids } = await makeRuns({ sessionId, response: 'canary' });
    const messages = ids.map((runId, turn) => {
      const what = { role: 'USER', text: 'canary' } as const;
      return { id: makeId('msg'), runId, turn, position: 0, ...what };
    });
    const session = { id: sessionId, botId, environment: 'PRODUCTION', sessionId } as const;
    await app.prisma.session.create({ data: session });
    await app.prisma.message.createMany({
      data: messages.map((message) => ({ ...message, sessionKey: sessionId })),
    });
    const { data } = await tenant.graphql(
      `mutation { forgetSession(botId: "${botId}", sessionId: "${sessionId}") }`,
    );
    expect(data).toEqual({ forgetSession: true });
    const forgotten = await counted(botId, 'UPDATE');
    expect(Math.max(...forgotten)).toBe(BATCH);
    expect(sum(forgotten)).toBe(MANY);
    expect(await app.prisma.run.count({ where: { botId, response: null, input: '' } })).toBe(MANY);
    expect(await app.prisma.message.count({ where: { sessionKey: sessionId } })).toBe(0);
    expect(await app.prisma.session.count({ where: { botId } })).toBe(0);
  });
});
