import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import type { Plan } from '../../../src/generated/prisma/client.ts';
import { createQueue } from '../../../src/runs/queue/queue.ts';
import { makeId } from '../../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { testDatabase } from '../../helpers/database.ts';
import { idOf } from '../../helpers/runs.ts';

const { prisma, sql } = await testDatabase();

const WHAT = { kind: 'EXECUTE', environment: 'PRODUCTION', channel: 'API', input: 'Hi' } as const;

const end = (id: string) =>
  prisma.run.update({ where: { id }, data: { status: 'COMPLETED', finishedAt: new Date() } });

describe('the queue', () => {
  const open = () => {
    const ownerId = makeId('own');
    const log = { warn: () => {}, error: () => {} };
    const owner = { id: () => ownerId };
    return createQueue({ prisma, sql, owner, pubsub: createPubSub(), notify: () => {}, log });
  };
  const account = async (plan: Plan, bots = 1) => {
    const accountId = makeId('acc');
    await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan } });
    const botIds = Array.from({ length: bots }, () => makeId('bot'));
    await prisma.bot.createMany({ data: botIds.map((id) => ({ id, accountId, name: 'Bot' })) });
    const add = async (queue: ReturnType<typeof open>, bot = 0) =>
      idOf(await queue.enqueue({ accountId, plan, botId: botIds[bot] ?? '', ...WHAT }));
    return { accountId, botIds, add };
  };
  /** Takes every run that may begin now. @returns the runs of these accounts. */
  const takeAll = async (queue: ReturnType<typeof open>, ...accountIds: string[]) => {
    const taken: { id: string; accountId: string }[] = [];
    for (;;) {
      const [run] = await queue.take();
      if (!run) return taken;
      const { begun, accountId } = run;
      if (accountIds.includes(accountId)) taken.push({ id: begun.id, accountId });
    }
  };

  test.each([
    ['FREE', 1],
    ['PRO', 4],
    ['BUSINESS', 8],
    ['ENTERPRISE', 16],
  ] as const)(
    'lets a %s account have at most %i active runs across all workers',
    async (plan, max) => {
      const queues = [open(), open(), open()];
      const { accountId, add } = await account(plan);
      for (const _ of Array(max + 3)) await add(queues[0] ?? open());
      const taken = (await Promise.all(queues.map((queue) => takeAll(queue, accountId)))).flat();
      expect(taken).toHaveLength(max);
      const [first, ...others] = taken;
      await end(first?.id ?? '');
      const next = await takeAll(open(), accountId);
      expect(next).toHaveLength(1);
      await prisma.run.deleteMany({ where: { status: 'QUEUED', accountId } });
      for (const { id } of [...others, ...next]) await end(id);
    },
  );

  test('takes from the account with the fewest active runs, regardless of how many runs others have queued', async () => {
    const queue = open();
    const [many, few] = [await account('ENTERPRISE'), await account('PRO')];
    for (const _ of Array(5)) await many.add(queue);
    await takeAll(queue, many.accountId);
    for (const _ of Array(5)) await many.add(queue);
    for (const _ of Array(3)) await few.add(queue);
    const taken = await takeAll(open(), many.accountId, few.accountId);
    expect(taken.map(({ accountId }) => accountId)).toEqual([
      ...Array(3).fill(few.accountId),
      ...Array(5).fill(many.accountId),
    ]);
    await prisma.account.deleteMany({ where: { id: { in: [many.accountId, few.accountId] } } });
  });

  test('takes several runs at once as fairly as one after the other', async () => {
    const queue = open();
    const [many, few] = [await account('ENTERPRISE', 2), await account('PRO')];
    for (const bot of [0, 0, 0, 0, 0, 1]) await many.add(queue, bot);
    for (const _ of Array(3)) await few.add(queue);
    const held = new Map([[few.accountId, 1]]);
    const taken = await queue.take({ free: 8, held, takesRetries: true });
    const accounts = taken.map(({ accountId }) => accountId);
    // As many as are still free are too many for one account: it has four of eight, or with one before, three.
    expect(accounts.filter((id) => id === many.accountId)).toHaveLength(3);
    expect(accounts.filter((id) => id === few.accountId)).toHaveLength(2);
    const bots = taken.flatMap(({ accountId, begun }) =>
      accountId === many.accountId ? [many.botIds.indexOf(begun.botId)] : [],
    );
    expect(bots).toHaveLength(3);
    expect(new Set(bots)).toEqual(new Set([0, 1]));
    await prisma.account.deleteMany({ where: { id: { in: [many.accountId, few.accountId] } } });
  });

  test('alternates between the bots of an account, and takes the oldest run of each', async () => {
    const queue = open();
    const { accountId, botIds, add } = await account('FREE', 2);
    const [first, second] = [[await add(queue, 0)], [] as string[]];
    for (const _ of Array(2)) first.push(await add(queue, 0));
    for (const _ of Array(2)) second.push(await add(queue, 1));
    const taken: string[] = [];
    for (;;) {
      const [run] = await takeAll(queue, accountId);
      if (!run) break;
      taken.push(run.id);
      await end(run.id);
    }
    const [one, other] =
      botIds[0] && botIds[1] && botIds[0] < botIds[1] ? [first, second] : [second, first];
    expect(taken).toEqual([one[0], other[0], one[1], other[1], ...one.slice(2), ...other.slice(2)]);
    await prisma.account.delete({ where: { id: accountId } });
  });

  test('refuses a run when the account has reached its plan’s limit of queued runs', async () => {
    const { accountId, botIds, add } = await account('FREE');
    const run = {
      botId: botIds[0] ?? '',
      accountId,
      background: true,
      status: 'QUEUED',
      attempt: 0,
    } as const;
    await prisma.run.createMany({
      data: Array.from({ length: 98 }, () => ({ id: makeId('run'), ...WHAT, ...run })),
    });
    const queue = open();
    for (const _ of Array(2)) await add(queue);
    const refusal = {
      code: 'rate_limit_exceeded',
      retryAfter: 1,
      message:
        'This account has 100 background runs waiting, the limit of its plan. Try again when one begins.',
    };
    await expect(add(queue)).rejects.toMatchObject(refusal);
    await expect(add(open())).rejects.toMatchObject(refusal);
    expect(await prisma.run.count({ where: { accountId } })).toBe(100);
    await prisma.account.delete({ where: { id: accountId } });
  });
});

describe('accounts that share a replica', () => {
  let app: TestApp;
  let begun: string[] = [];
  let release = Promise.withResolvers<void>();

  beforeAll(async () => {
    app = await startApp();
    app.upstream.script(async ({ request, say, end, closed }) => {
      const prompt = request.body.messages.at(-1)?.content ?? '';
      begun.push(prompt);
      say('Hello.');
      if (prompt.startsWith('Hang')) await Promise.race([release.promise, closed]);
      end();
    });
  });
  afterAll(() => app.close());
  const reset = () => {
    begun = [];
    release = Promise.withResolvers();
  };

  const post = (tenant: Tenant, bot: string, path: string, body: object, headers = {}) =>
    fetch(`${app.url}/v1/bots/${bot}/${path}`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const enqueue = async (tenant: Tenant, bot: string, prompt: string) => {
    const response = await post(tenant, bot, 'execute', { prompt, background: true });
    expect(response.status).toBe(202);
    return ((await response.json()) as { run_id: string }).run_id;
  };
  const status = async (id: string) =>
    (await prisma.run.findUniqueOrThrow({ where: { id } })).status;
  const activeOf = (accountId: string) =>
    prisma.run.count({ where: { status: 'RUNNING', bot: { accountId } } });
  const allEnd = async (ids: string[]) => {
    release.resolve();
    for (const id of ids) await expect.poll(() => status(id)).toBe('COMPLETED');
  };
  const completes = async (plan: Plan) => {
    const tenant = await app.tenant({ plan });
    const id = await enqueue(tenant, await tenant.bot(), 'Hello');
    await expect.poll(() => status(id)).toBe('COMPLETED');
  };

  test('do not block each other’s background runs with runs that hang', async () => {
    reset();
    const hanging: string[] = [];
    for (const _ of Array(2)) {
      const tenant = await app.tenant({ plan: 'FREE' });
      const bot = await tenant.bot();
      for (const _ of Array(5)) hanging.push(await enqueue(tenant, bot, 'Hang'));
      await expect.poll(() => activeOf(tenant.accountId)).toBe(1);
    }
    await completes('FREE');
    await allEnd(hanging);
  });

  test('leave slots for the next account, on any plan', async () => {
    reset();
    const hanging: string[] = [];
    for (const count of [10, 5]) {
      const tenant = await app.tenant({ plan: 'ENTERPRISE' });
      const bot = await tenant.bot();
      for (const _ of Array(12)) hanging.push(await enqueue(tenant, bot, 'Hang'));
      await expect.poll(() => activeOf(tenant.accountId)).toBe(count);
    }
    await completes('FREE');
    await allEnd(hanging);
  });

  test('retry runs of a dead process one at a time, after a delay', async () => {
    reset();
    const suspects = await Promise.all(
      ['Hang 1', 'Hang 2'].map(async (input) => {
        const tenant = await app.tenant({ plan: 'FREE' });
        const ids = { accountId: tenant.accountId, botId: await tenant.bot() };
        const lost = { status: 'RUNNING', ownerId: makeId('own'), background: true } as const;
        const data = { id: makeId('run'), ...WHAT, ...ids, ...lost, input };
        return (await prisma.run.create({ data })).id;
      }),
    );
    for (const id of suspects) {
      const delay = async () => {
        const { availableAt, createdAt } = await prisma.run.findUniqueOrThrow({ where: { id } });
        return availableAt && availableAt.getTime() - createdAt.getTime();
      };
      await expect.poll(delay).toBeGreaterThanOrEqual(5_000);
    }
    await prisma.run.updateMany({
      where: { id: { in: suspects } },
      data: { availableAt: new Date(0) },
    });
    const retried = () => begun.filter((prompt) => prompt.startsWith('Hang'));
    await expect.poll(retried).toHaveLength(1);
    await completes('FREE');
    expect(retried()).toHaveLength(1);
    await allEnd(suspects);
    expect(retried()).toHaveLength(2);
  });

  test('each have a limit of active runs, which counts runs that wait for their turn', async () => {
    reset();
    const tenant = await app.tenant({ plan: 'PRO' });
    const bot = await tenant.bot();
    const session = { 'x-session-id': 'one' };
    const hang = (headers = {}) => post(tenant, bot, 'chat', { message: 'Hang' }, headers);
    const answers = [
      ...Array.from({ length: 40 }, () => hang()),
      ...Array.from({ length: 10 }, () => hang(session)),
    ];
    await expect.poll(() => activeOf(tenant.accountId)).toBe(41);
    await expect.poll(() => app.waiting()).toBe(9);
    const refused = await hang();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(Number(refused.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'rate_limit_exceeded',
        retry_after: 1,
        message: 'This account has 50 active runs, the limit of its plan. Try again when one ends.',
      },
    });
    const { errors } = await tenant.graphql(
      `mutation { execute(botId: "${bot}", input: { prompt: "Hang" }) { id } }`,
    );
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 1 });
    await completes('FREE');
    release.resolve();
    for (const answer of answers) expect((await answer).status).toBe(200);
    expect((await post(tenant, bot, 'chat', { message: 'Hello' })).status).toBe(200);
  });
});
