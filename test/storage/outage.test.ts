import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { isOutage } from '../../src/errors/outage.ts';
import { statement } from '../../src/storage/sql.ts';
import { startApp } from '../helpers/app.ts';
import { linkPostgres } from '../helpers/postgres.ts';
import { testRandom } from '../helpers/random.ts';

const databaseUrl = inject('databaseUrl');
const CHATS = 50;
const TURNS = 4;

/** Stops the cutting, so that some requests succeed on a slow machine too. */
const MAX_CUT = 400;

/** Repeatedly cuts the connections of this worker's database, except its own, until it is stopped. */
async function cutConnections(database: string, pause: () => number) {
  const killer = new pg.Client({ connectionString: databaseUrl });
  await killer.connect();
  let isOver = false;
  let cut = 0;
  const cutting = (async () => {
    while (!isOver && cut < MAX_CUT) {
      await delay(pause());
      const { rowCount } = await killer.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND random() < 0.5',
        [database],
      );
      cut += rowCount ?? 0;
    }
    await killer.end();
  })();
  return async () => {
    isOver = true;
    await cutting;
    return cut;
  };
}

describe.skipIf(!databaseUrl)('a database that cuts its connections at random', () => {
  test('fails some requests, but no client or run hangs, and nothing is stored twice', async () => {
    const random = testRandom();
    const app = await startApp();
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    app.upstream.script(async ({ say, end }) => {
      for (const word of ['One ', 'two ', 'three.']) {
        say(word);
        await delay(random.int(0, 30));
      }
      end();
    });
    const [{ name = '' } = {}] = await app.prisma.$queryRaw<
      { name: string }[]
    >`SELECT current_database() AS name`;
    const stop = await cutConnections(name, () => random.int(10, 60));

    const answers = await Promise.all(
      Array.from({ length: CHATS }, async (_, index) => {
        const statuses: number[] = [];
        for (let turn = 0; turn < TURNS; turn += 1) {
          const isKeyed = index % 3 === 0;
          const headers: Record<string, string> = {
            'x-session-id': `outage-${index % 40}`,
            ...(isKeyed && { 'idempotency-key': `outage-${index}-${turn}` }),
          };
          const body = { message: `${index}/${turn}` };
          const response = await tenant.chat(bot, body, headers);
          await response.text();
          statuses.push(response.status);
        }
        return statuses;
      }),
    );
    const cut = await stop();
    expect(cut).toBeGreaterThan(20);
    for (const status of answers.flat()) expect([200, 500]).toContain(status);
    expect(answers.flat()).toContain(200);

    const where = { botId: bot };
    const left = async () => ({
      running: await app.prisma.run.count({ where: { ...where, status: 'RUNNING' } }),
      leased: await app.prisma.session.count({ where: { ...where, leaseId: { not: null } } }),
      waiting: await app.prisma.turnWaiter.count({ where: { session: where } }),
      claimed: await app.prisma.idempotencyRecord.count({
        where: { accountId: tenant.accountId, runId: null },
      }),
    });
    const none = { running: 0, leased: 0, waiting: 0, claimed: 0 };
    await expect.poll(left, { interval: 500 }).toEqual(none);

    const runs = await app.prisma.run.findMany({ where, include: { messages: true } });
    for (const { status, messages, input } of runs) {
      const roles = messages.map(({ role, text }) => `${role} ${text}`).sort();
      const whole = ['ASSISTANT One two three.', `USER ${input}`];
      expect(roles).toEqual(status === 'COMPLETED' ? whole : []);
    }
    const completed = runs.filter(({ status }) => status === 'COMPLETED');
    const sessions = await app.prisma.session.findMany({ where });
    const turns = sessions.reduce((sum, session) => sum + session.turns, 0);
    expect(turns).toBe(completed.length);
    for (const { sessionId } of sessions) {
      const answer = await tenant.chat(bot, { message: 'Again' }, { 'x-session-id': sessionId });
      expect(answer.status).toBe(200);
    }
  });
});

describe.skipIf(!databaseUrl)('a database error', () => {
  test('counts as an outage if the connection broke, but not if the statement is wrong', async () => {
    const link = await linkPostgres();
    const { prisma, sql } = link.database;
    const SELECT_ONE = statement('SELECT 1 AS one FROM json_to_record($1) AS asked (key text)');
    const runEach = (): PromiseLike<unknown>[] => [
      sql(SELECT_ONE, ['{}']),
      prisma.owner.findMany(),
      prisma.$queryRaw`SELECT 1`,
      prisma.$transaction(async (tx) => tx.owner.findMany()),
    ];
    const verdicts = async (answers: PromiseLike<unknown>[]) => {
      const settled = await Promise.allSettled(answers);
      return settled.map((answer) => answer.status === 'rejected' && isOutage(answer.reason));
    };
    link.loseAnswers('');
    expect(await verdicts(runEach())).toEqual([true, true, true, true]);
    link.restore();
    link.cut();
    expect(await verdicts(runEach())).toEqual([true, true, true, true]);
    link.restore();
    const terminate = prisma.$queryRaw`SELECT pg_terminate_backend(pg_backend_pid())`;
    expect(await verdicts([terminate])).toEqual([true]);
    const wrong = [
      sql(SELECT_ONE, ['{']),
      prisma.owner.findUnique({ where: { id: 'a\u0000' } }),
      prisma.bot.create({ data: { id: 'b', accountId: 'none', name: 'Bot' } }),
      prisma.$queryRaw`SELECT nothing`,
    ];
    expect(await verdicts(wrong)).toEqual([false, false, false, false]);
  });
});

describe.skipIf(!databaseUrl)('an outage of the database', () => {
  test('that ends within the limit of a request fails no look-up of a key, a bot or a deployment', async () => {
    const link = await linkPostgres();
    const app = await startApp({ database: link.database });
    const tenants = await Promise.all(Array.from({ length: 5 }, () => app.tenant()));
    const bots = await Promise.all(tenants.map((tenant) => tenant.bot()));
    const refused = link.cut();
    const answers = tenants.map((tenant, index) =>
      tenant.chat(bots[index] ?? '', { message: 'Hi' }),
    );
    await expect.poll(refused).toBeGreaterThan(tenants.length);
    link.restore();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses).toEqual(tenants.map(() => 200));
  });

  test('that lasts longer answers 500 with the time to wait, and never that a key or a bot does not exist', async () => {
    const link = await linkPostgres();
    const app = await startApp({ database: link.database });
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    link.cut();
    const answer = await tenant.chat(bot, { message: 'Hi' });
    link.restore();
    expect(answer.status).toBe(500);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await answer.json()).toMatchObject({
      error: { code: 'internal_error', retry_after: 5 },
    });
  });
});
