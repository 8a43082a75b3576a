import { randomUUID } from 'node:crypto';
import { createClient } from 'graphql-ws';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import { GatewayError } from '../../../src/errors/errors.ts';
import type { Prisma } from '../../../src/generated/prisma/client.ts';
import { newClaim } from '../../../src/idempotency/claim.ts';
import { createQueue } from '../../../src/runs/queue/queue.ts';
import { SETTLED_AFTER_MS } from '../../../src/storage/database.ts';
import { makeId } from '../../../src/text/ids.ts';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../../helpers/app.ts';
import { testDatabase } from '../../helpers/database.ts';
import { createTestDeploy } from '../../helpers/deploy.ts';
import { hold } from '../../helpers/locks.ts';
import { idOf } from '../../helpers/runs.ts';
import { frames } from '../../helpers/stream.ts';
import type { Script } from '../../helpers/upstream.ts';

const { prisma, sql } = await testDatabase();
const findRun = (id: string) => prisma.run.findUniqueOrThrow({ where: { id } });
/** Ends the retry delay of a run that has lost its owner, and waits for its second attempt. */
const endDelay = (id: string) =>
  expect
    .poll(async () => {
      const where = { id, status: 'QUEUED' } as const;
      await prisma.run.updateMany({ where, data: { availableAt: new Date(0) } });
      return (await findRun(id)).attempt;
    })
    .toBe(2);

const execute = (
  { url }: TestApp,
  tenant: Tenant,
  bot: string,
  body: object,
  headers: Record<string, string> = {},
) =>
  fetch(`${url}/v1/bots/${bot}/execute`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ prompt: 'Do it', background: true, ...body }),
  });

/** Enqueues a run. @returns its id. */
async function enqueue(app: TestApp, tenant: Tenant, bot: string, body = {}, headers = {}) {
  const response = await execute(app, tenant, bot, body, headers);
  expect(response.status).toBe(202);
  const { run_id: id } = (await response.json()) as { run_id: string };
  return id;
}

const cancel = (app: TestApp, tenant: Tenant, bot: string, runId: string) =>
  fetch(`${app.url}/v1/bots/${bot}/runs/${runId}/cancel`, {
    method: 'POST',
    headers: tenant.headers,
  });

const hello: Script = ({ say, end }) => {
  for (const text of ['Hello', ' ', 'there.']) say(text);
  end();
};

/** A script that sends two words, and the third when the test calls `finish`. */
function held() {
  const finish = Promise.withResolvers<void>();
  const begun: string[] = [];
  const script: Script = async ({ request, say, end, closed }) => {
    begun.push(request.body.messages.at(-1)?.content ?? '');
    for (const word of ['One ', 'two ']) say(word);
    await Promise.race([finish.promise, closed]);
    say('three.');
    end();
  };
  return { script, begun, finish: finish.resolve };
}

const log = { warn: () => {}, error: () => {} };

const status = async (id: string) => (await findRun(id)).status;
const ended = (id: string) => expect.poll(() => status(id), { interval: 20 });

type Work = (tx: Prisma.TransactionClient) => Promise<unknown>;

/** The same database with another `$transaction`. */
const transacting = (transact: (work: Work, options: object) => Promise<unknown>) =>
  new Proxy(prisma, {
    get(target, name) {
      if (name === '$transaction') return transact;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

describe('the queue of runs', () => {
  const newRun = async () => {
    const accountId = makeId('acc');
    const botId = makeId('bot');
    await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'ENTERPRISE' } });
    await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
    return {
      accountId,
      plan: 'ENTERPRISE',
      botId,
      environment: 'PRODUCTION',
      kind: 'EXECUTE',
      channel: 'API',
      input: 'Hi',
    } as const;
  };
  const open = async (client = prisma) => {
    const ownerId = makeId('own');
    const owner = { id: () => ownerId };
    const queue = createQueue({
      prisma: client,
      sql,
      owner,
      pubsub: createPubSub(),
      notify: () => {},
      log,
    });
    const enqueue = async (...run: Parameters<typeof queue.enqueue>) =>
      idOf(await queue.enqueue(...run));
    const take = async () => (await queue.take())[0];
    return { ...queue, enqueue, take, ownerId };
  };

  test('gives each run to one worker, the longest queued first', async () => {
    const [one, other] = [await open(), await open()];
    const run = await newRun();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await one.enqueue(run));
    const first = await other.take();
    expect(first?.begun).toMatchObject({ id: ids[0], attempt: 1, ownerId: other.ownerId });
    const taken = await Promise.all([one, other, one, other, one, other].map((q) => q.take()));
    expect(taken.flatMap((all) => all?.begun.id ?? []).sort()).toEqual(ids.slice(1).sort());
  });

  // PGlite uses the clock of its process.
  test.skipIf(!inject('databaseUrl'))(
    'uses the database’s clock, as the end of a run does',
    async () => {
      const queue = await open();
      const id = await queue.enqueue(await newRun());
      vi.useFakeTimers({ toFake: ['Date'], now: 0 });
      await queue.take();
      vi.useRealTimers();
      expect((await findRun(id)).startedAt?.getTime()).toBeGreaterThan(Date.now() - 60_000);
    },
  );

  test('adds no run for a request whose key another request has', async () => {
    const queue = await open();
    const run = await newRun();
    const request = { accountId: run.accountId, namespace: '', key: 'key', fingerprint: '' };
    const first = await queue.enqueue(run, newClaim(request));
    await expect(queue.enqueue(run, newClaim(request))).rejects.toThrow(
      'Another request has the key.',
    );
    expect(await prisma.run.findMany({ where: { botId: run.botId } })).toMatchObject([
      { id: first },
    ]);
    await prisma.account.delete({ where: { id: run.accountId } });
  });

  test('leaves a run to recovery if the response to the take was lost', async () => {
    const losing = transacting(async (work, options) => {
      await prisma.$transaction(work, options);
      throw new Error('The connection was cut.');
    });
    const queue = await open(losing);
    const id = await (await open()).enqueue(await newRun());
    await expect(queue.take()).rejects.toThrow('The connection was cut.');
    // Like the run of a dead process. The take fails after half a second, though the database may need longer.
    await expect
      .poll(() => findRun(id))
      .toMatchObject({ status: 'RUNNING', attempt: 1, ownerId: null });
    await prisma.run.delete({ where: { id } });
  });

  test('does not release a run that it took again after its first take was rolled back', async () => {
    let isCut = true;
    const losing = transacting(async (work, options) =>
      prisma.$transaction(async (tx) => {
        const taken = await work(tx);
        if (isCut) throw new Error('The connection was cut.');
        return taken;
      }, options),
    );
    const queue = await open(losing);
    const id = await (await open()).enqueue(await newRun());
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    await expect(queue.take()).rejects.toThrow('The connection was cut.');
    isCut = false;
    expect((await queue.take())?.begun).toMatchObject({ id, attempt: 1 });
    const release = vi.spyOn(prisma.run, 'updateMany');
    await vi.advanceTimersByTimeAsync(SETTLED_AFTER_MS);
    vi.useRealTimers();
    await expect.poll(() => release.mock.calls.length).toBeGreaterThan(0);
    await Promise.all(release.mock.results.map(({ value }) => value));
    release.mockRestore();
    expect(await findRun(id)).toMatchObject({ status: 'RUNNING', ownerId: queue.ownerId });
    await prisma.run.delete({ where: { id } });
  });

  test('skips runs that were cancelled or deleted', async () => {
    const queue = await open();
    const run = await newRun();
    const [cancelled, deleted, kept] = [
      await queue.enqueue(run),
      await queue.enqueue(run),
      await queue.enqueue(run),
    ];
    await prisma.run.update({ where: { id: cancelled }, data: { status: 'CANCELLED' } });
    await prisma.run.delete({ where: { id: deleted } });
    expect((await queue.take())?.begun.id).toBe(kept);
    expect(await status(cancelled)).toBe('CANCELLED');
    expect(await queue.take()).toBeUndefined();
  });

  // PGlite has one connection.
  test.skipIf(!inject('databaseUrl'))('takes a run that is being rated', async () => {
    const queue = await open();
    const id = await queue.enqueue(await newRun());
    const commit = await hold(
      prisma,
      (tx) => tx.$executeRaw`SELECT 1 FROM runs WHERE id = ${id} FOR KEY SHARE`,
    );
    const taken = await queue.take().finally(commit);
    expect(taken?.begun.id).toBe(id);
    await prisma.run.delete({ where: { id } });
  });

  test('fails a run that is refused permanently, and releases one with an unexpected error for another attempt', async () => {
    const queue = await open();
    const ids = [await queue.enqueue(await newRun()), await queue.enqueue(await newRun())] as const;
    const reasons = [new GatewayError('bot_not_deployed', 'None.'), new Error('No answer.')];
    for (const reason of reasons) {
      const taken = await queue.take();
      if (!taken) throw new Error('There was nothing to take.');
      await queue.release(taken.begun, reason);
    }
    expect(await findRun(ids[0])).toMatchObject({
      status: 'FAILED',
      errorCode: 'bot_not_deployed',
      finishedAt: expect.any(Date),
    });
    // Like the run of a dead process.
    expect(await findRun(ids[1])).toMatchObject({ status: 'RUNNING', attempt: 1, ownerId: null });

    await prisma.run.update({
      where: { id: ids[1] },
      data: { attempt: 3, ownerId: queue.ownerId },
    });
    const { botId } = await findRun(ids[1]);
    const last = { id: ids[1], botId, ownerId: queue.ownerId, attempt: 3 };
    await queue.release(last, new Error('No answer.'));
    expect(await findRun(ids[1])).toMatchObject({ status: 'FAILED', errorCode: 'internal_error' });
    await prisma.run.delete({ where: { id: ids[1] } });
  });

  // PGlite uses the clock of its process.
  test.skipIf(!inject('databaseUrl'))('fails a run at the time of the database', async () => {
    const queue = await open();
    const id = await queue.enqueue(await newRun());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 24 * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const taken = await queue.take();
    if (!taken) throw new Error('There was nothing to take.');
    await queue.release(taken.begun, new GatewayError('bot_not_deployed', 'None.'));
    const { startedAt, finishedAt } = await findRun(id);
    expect(finishedAt?.getTime()).toBeGreaterThanOrEqual(startedAt?.getTime() ?? Infinity);
  });

  test('requeues a run only for its current attempt, and not after its cancellation was requested', async () => {
    const queue = await open();
    const id = await queue.enqueue(await newRun());
    const taken = await queue.take();
    if (!taken) throw new Error('There was nothing to take.');
    const record = { response: '', events: [], eventTimes: [] };
    const otherOwner = { ...taken.begun, ownerId: makeId('own') };
    expect(await queue.requeue(otherOwner, record)).toBe(false);
    expect(await queue.requeue(taken.begun, record)).toBe(true);
    expect(await queue.requeue(taken.begun, record)).toBe(false);
    const again = await queue.take();
    expect(again?.begun).toMatchObject({ id, attempt: 1 });
    await prisma.run.update({ where: { id }, data: { cancelRequested: true } });
    expect(await queue.requeue(taken.begun, record)).toBe(false);
  });
});

describe('a background run', () => {
  let app: TestApp;
  let tenant: Tenant;
  let bot: string;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.tenant();
    bot = await tenant.bot();
  });
  beforeEach(() => app.upstream.script(hello));
  afterAll(() => app.close());

  /** Fills the ten worker slots of the process. @returns a function that completes these runs. */
  async function keepBusy(botId = bot) {
    const { script, begun, finish } = held();
    app.upstream.script(script);
    const active = await Promise.all(Array.from({ length: 10 }, () => enqueue(app, tenant, botId)));
    await expect.poll(() => begun.length).toBe(10);
    const finishAll = async () => {
      finish();
      for (const id of active) await ended(id).toBe('COMPLETED');
    };
    return { begun, finish: finishAll };
  }

  test('is answered before it completes', async () => {
    const response = await execute(app, tenant, bot, {
      context: { plan: 'pro' },
      metadata: { job: 7 },
    });
    expect(response.status).toBe(202);
    const id = response.headers.get('x-run-id');
    expect(await response.json()).toEqual({ run_id: id, status: 'queued' });
    await ended(id ?? '').toBe('COMPLETED');
    expect(await findRun(id ?? '')).toMatchObject({
      kind: 'EXECUTE',
      response: 'Hello there.',
      input: 'Do it',
      metadata: { job: 7 },
      model: 'scripted',
      deploymentId: expect.any(String),
      attempt: 1,
      latencyMs: expect.any(Number),
      startedAt: expect.any(Date),
      finishedAt: expect.any(Date),
    });
    const system = app.upstream.requests.at(-1)?.body.messages[0]?.content;
    expect(system).toContain('{"plan":"pro"}');
  });

  test('is enqueued over GraphQL and followed to its end', async () => {
    const { script, finish } = held();
    app.upstream.script(script);
    const { data } = await tenant.graphql(
      `mutation { execute(botId: "${bot}", input: { prompt: "Go", background: true }) { id status response } }`,
    );
    expect(data.execute).toEqual({ id: expect.any(String), status: 'QUEUED', response: null });
    const client = createClient({
      url: app.webSocketUrl,
      connectionParams: { Authorization: tenant.headers.authorization },
    });
    const query = `subscription { runEvents(runId: "${data.execute.id}") {
      __typename ... on RunStarted { seq } ... on TextDelta { seq delta } ... on ChatDone { seq tokensUsed } } }`;
    const events: unknown[] = [];
    for await (const { data: event } of client.iterate<{ runEvents: { delta?: string } }>({
      query,
    })) {
      events.push(event?.runEvents);
      if (event?.runEvents.delta === 'two ') finish();
    }
    expect(events).toEqual([
      { __typename: 'RunStarted', seq: 1 },
      { __typename: 'TextDelta', seq: 2, delta: 'One ' },
      { __typename: 'TextDelta', seq: 3, delta: 'two ' },
      { __typename: 'TextDelta', seq: 4, delta: 'three.' },
      { __typename: 'ChatDone', seq: 5, tokensUsed: 15 },
    ]);
    await client.dispose();
  });

  test('is returned as queued even if a worker completes it before the response', async () => {
    const { run } = prisma;
    const findUniqueOrThrow = async (query: Parameters<typeof run.findUniqueOrThrow>[0]) => {
      await ended(query.where.id ?? '').toBe('COMPLETED');
      return run.findUniqueOrThrow(query);
    };
    const late = new Proxy(run, {
      get: (inner, name) =>
        name === 'findUniqueOrThrow' ? findUniqueOrThrow : Reflect.get(inner, name),
    });
    const slow = await startApp({
      database: {
        ...(await testDatabase()),
        prisma: new Proxy(prisma, {
          get: (inner, name) => (name === 'run' ? late : Reflect.get(inner, name)),
        }),
      },
    });
    slow.upstream.script(hello);
    const traceId = 'c0ffee02'.repeat(4);
    const response = await fetch(`${slow.url}/graphql`, {
      method: 'POST',
      headers: {
        ...tenant.headers,
        'content-type': 'application/json',
        traceparent: `00-${traceId}-${'ab'.repeat(8)}-01`,
      },
      body: JSON.stringify({
        query: `mutation { execute(botId: "${bot}", input: { prompt: "Go", background: true }) {
          status input response model deployment { id } error { code } startedAt finishedAt latencyMs
          promptTokens completionTokens tokensUsed tokensEstimated toolsCalled trace { traceId spans { name } }
        } }`,
      }),
    });
    expect(await response.json()).toEqual({
      data: {
        execute: {
          status: 'QUEUED',
          input: 'Go',
          response: null,
          model: null,
          deployment: null,
          error: null,
          startedAt: null,
          finishedAt: null,
          latencyMs: null,
          promptTokens: 0,
          completionTokens: 0,
          tokensUsed: 0,
          tokensEstimated: false,
          toolsCalled: [],
          trace: { traceId, spans: [] },
        },
      },
    });
    await slow.close();
  });

  test('still runs after a month in the queue', async () => {
    const what = { environment: 'PRODUCTION', kind: 'EXECUTE', channel: 'API' } as const;
    const queued = { status: 'QUEUED', background: true, attempt: 0 } as const;
    const createdAt = new Date(Date.now() - 30 * 24 * 60 * 60 * 1_000);
    const base = { id: makeId('run'), accountId: tenant.accountId, botId: bot, createdAt };
    const { id } = await prisma.run.create({ data: { ...base, input: 'Hi', ...what, ...queued } });
    await ended(id).toBe('COMPLETED');
    expect((await findRun(id)).latencyMs).toBe(2 ** 31 - 1);
  });

  // PGlite uses the clock of its process.
  test.skipIf(!inject('databaseUrl'))(
    'has its latency by the database’s clock, not by the clock of its worker',
    async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 3_600_000 });
      onTestFinished(() => void vi.useRealTimers());
      const id = await enqueue(app, tenant, bot);
      await ended(id).toBe('COMPLETED');
      expect((await findRun(id)).latencyMs).toBeLessThan(3_600_000);
    },
  );

  test('continues the caller’s trace', async () => {
    const traceId = 'c0ffee00'.repeat(4);
    const id = await enqueue(
      app,
      tenant,
      bot,
      {},
      { traceparent: `00-${traceId}-${'ab'.repeat(8)}-01` },
    );
    await ended(id).toBe('COMPLETED');
    expect((await findRun(id)).traceId).toBe(traceId);
  });

  test('has the caller’s trace id while queued, even if it never begins', async () => {
    const { finish } = await keepBusy();
    const traceId = 'c0ffee01'.repeat(4);
    const traceparent = `00-${traceId}-${'ab'.repeat(8)}-00`;
    const traced = await enqueue(app, tenant, bot, {}, { traceparent });
    const untraced = await enqueue(app, tenant, bot, {}, { traceparent: 'nonsense' });
    const traceIdOf = async (id: string) => {
      const { data } = await tenant.graphql(`{ run(id: "${id}") { status trace { traceId } } }`);
      return [data.run.status, data.run.trace.traceId];
    };
    expect(await traceIdOf(traced)).toEqual(['QUEUED', traceId]);
    expect(await traceIdOf(untraced)).toEqual(['QUEUED', '0'.repeat(32)]);
    for (const id of [traced, untraced]) await cancel(app, tenant, bot, id);
    expect(await traceIdOf(traced)).toEqual(['CANCELLED', traceId]);
    await finish();
  });

  test('emits its start to waiting readers when it begins, with no event lost or repeated', async () => {
    const { finish } = await keepBusy();
    const id = await enqueue(app, tenant, bot);
    const follow = (after: number) =>
      fetch(`${app.url}/v1/bots/${bot}/runs/${id}/events?after=${after}`, {
        headers: tenant.headers,
      });
    const [whole, behind] = [await follow(0), await follow(1)];
    expect(await status(id)).toBe('QUEUED');
    app.upstream.script(hello);
    await finish();
    const text = await whole.text();
    expect(text.match(/^id: \d+$/gm)).toEqual([1, 2, 3, 4, 5].map((seq) => `id: ${seq}`));
    expect(text.match(/"run_started"/g)).toHaveLength(1);
    expect(await behind.text()).toBe(text.slice(text.indexOf('id: 2\n')));
  });

  test('emits only its end to waiting readers if it is cancelled while queued', async () => {
    const { finish } = await keepBusy();
    const id = await enqueue(app, tenant, bot);
    const followed = await Promise.all(
      [0, 1, 9].map((after) =>
        fetch(`${app.url}/v1/bots/${bot}/runs/${id}/events?after=${after}`, {
          headers: tenant.headers,
        }),
      ),
    );
    await cancel(app, tenant, bot, id);
    for (const events of followed) {
      const text = await events.text();
      expect(text.match(/^id: \d+$/gm)).toEqual(['id: 1']);
      expect(text).toContain('"event":"done"');
    }
    await finish();
  });

  test('cannot be streamed', async () => {
    const response = await execute(app, tenant, bot, { stream: true });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { details: { path: string }[] } };
    expect(error.details.map(({ path }) => path)).toEqual(['stream', 'background']);
    const refused = await app.graphql(
      tenant.apiKey,
      `subscription { execute(botId: "${bot}", input: { prompt: "Go", background: true }) { __typename } }`,
    );
    expect(JSON.stringify(refused)).toContain('INVALID_REQUEST');
  });

  test('is refused if the bot has no deployment', async () => {
    const response = await execute(app, tenant, await tenant.bot(null), {});
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'bot_not_deployed' } });
  });

  test('fails when its model fails', async () => {
    app.upstream.script(({ response }) => {
      response.writeHead(400).end();
    });
    const id = await enqueue(app, tenant, bot);
    await ended(id).toBe('FAILED');
    expect(await findRun(id)).toMatchObject({ errorCode: 'model_error', attempt: 1 });
  });

  test('begins once under an idempotency key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => execute(app, tenant, bot, { prompt: 'Once' }, headers)),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(202));
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed')).length).toBe(7);
    expect(await prisma.run.count({ where: { botId: bot, input: 'Once' } })).toBe(1);
    const inForeground = await execute(
      app,
      tenant,
      bot,
      { prompt: 'Once', background: false },
      headers,
    );
    expect(await inForeground.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
  });

  test('waits while all ten slots are taken, can be cancelled there, and uses the deployment active at its start', async () => {
    const other = await tenant.bot();
    const { begun, finish } = await keepBusy(other);
    const stopped = await enqueue(app, tenant, other, { prompt: 'Stop me' });
    const later = await enqueue(app, tenant, other, { prompt: 'Later' });
    expect(await (await cancel(app, tenant, other, stopped)).json()).toMatchObject({
      run_id: stopped,
      status: 'cancelled',
    });
    const events = await fetch(`${app.url}/v1/bots/${other}/runs/${stopped}/events`, {
      headers: tenant.headers,
    });
    expect(await frames(events)).toEqual([
      { event: 'done', run_id: stopped, latency_ms: 0, status: 'cancelled' },
    ]);
    const { id: deploymentId } = await createTestDeploy({ prisma, cipher: testCipher })({
      action: 'DEPLOY',
      botId: other,
      environment: 'PRODUCTION',
      source: agent(),
      envVars: {},
      unsetEnvVars: [],
    });
    expect(await status(later)).toBe('QUEUED');
    await finish();
    await ended(later).toBe('COMPLETED');
    expect((await findRun(later)).deploymentId).toBe(deploymentId);
    expect(begun).not.toContain('Stop me');
    expect(await findRun(stopped)).toMatchObject({ status: 'CANCELLED', attempt: 0 });
  });

  test('keeps its partial response when it is cancelled while active', async () => {
    const { script, begun } = held();
    app.upstream.script(script);
    const id = await enqueue(app, tenant, bot);
    await expect.poll(() => begun.length).toBe(1);
    const texts = async () => {
      const pieces = await prisma.runProgress.findMany({ where: { runId: id } });
      return pieces.map(({ response }) => response).join('');
    };
    await expect.poll(texts).toBe('One two ');
    expect(await (await cancel(app, tenant, bot, id)).json()).toMatchObject({
      status: 'cancelled',
    });
    expect(await findRun(id)).toMatchObject({ status: 'CANCELLED', response: 'One two ' });
  });
});

test('a background run that is cancelled after a worker took it does not begin', async () => {
  const [taken, found] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [bot, finds] = ['', 0];
  // The request reads first, the worker reads second.
  const findUnique = async (...args: Parameters<typeof prisma.activeDeployment.findUnique>) => {
    if (args[0].where.botId_environment?.botId === bot) finds += 1;
    if (finds === 2) {
      taken.resolve();
      await found.promise;
    }
    return prisma.activeDeployment.findUnique(...args);
  };
  const { activeDeployment } = prisma;
  const late = new Proxy(activeDeployment, {
    get: (inner, name) => (name === 'findUnique' ? findUnique : Reflect.get(inner, name)),
  });
  const slow = await startApp({
    database: {
      ...(await testDatabase()),
      prisma: new Proxy(prisma, {
        get: (inner, name) => (name === 'activeDeployment' ? late : Reflect.get(inner, name)),
      }),
    },
  });
  const tenant = await slow.tenant();
  bot = await tenant.bot();
  const { script, begun } = held();
  slow.upstream.script(script);
  const id = await enqueue(slow, tenant, bot);
  await taken.promise;
  const cancelled = cancel(slow, tenant, bot, id);
  await expect.poll(async () => (await findRun(id)).cancelRequested).toBe(true);
  found.resolve();
  expect(await (await cancelled).json()).toMatchObject({ status: 'cancelled' });
  expect(begun).toEqual([]);
  await slow.close();
});

describe('several replicas', () => {
  /** Creates the run of a dead process: it is running, and its owner does not exist. */
  const createOrphan = async (botId: string, more = {}) => {
    const id = makeId('run');
    const { accountId } = await prisma.bot.findUniqueOrThrow({ where: { id: botId } });
    const begun = { status: 'RUNNING', ownerId: makeId('own'), background: true } as const;
    const what = { kind: 'EXECUTE', environment: 'PRODUCTION', channel: 'API' } as const;
    const base = { id, botId, accountId };
    await prisma.run.create({ data: { ...base, input: 'Again', ...what, ...begun, ...more } });
    return id;
  };

  test('run fifty runs once each', async () => {
    const apps = [await startApp(), await startApp(), await startApp()];
    const [first] = apps;
    if (!first) throw new Error('There is no application.');
    const tenant = await first.tenant();
    const bot = await tenant.bot();
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        enqueue(apps[index % 3] ?? first, tenant, bot, { prompt: `Number ${index}` }),
      ),
    );
    for (const id of ids) await ended(id).toBe('COMPLETED');
    const prompts = apps.flatMap(({ upstream }) =>
      upstream.requests
        .map(({ body }) => body.messages.at(-1)?.content ?? '')
        .filter((prompt) => prompt.startsWith('Number')),
    );
    expect(prompts.sort()).toEqual(ids.map((_, index) => `Number ${index}`).sort());
    expect(await prisma.run.count({ where: { botId: bot, attempt: 1 } })).toBe(50);
    for (const app of apps) await app.close();
  });

  test('retry the run of a dead process, and its readers miss no event', async () => {
    const app = await startApp();
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const traceId = 'ab'.repeat(16);
    const id = await createOrphan(bot, {
      response: 'One two ',
      events: [{ type: 'RunStarted', runId: 'x', sessionId: null }, 4, 8],
      traceId,
    });
    await endDelay(id);
    await ended(id).toBe('COMPLETED');
    expect(await findRun(id)).toMatchObject({ response: 'Hello there.', attempt: 2 });
    const events = await fetch(`${app.url}/v1/bots/${bot}/runs/${id}/events`, {
      headers: tenant.headers,
    });
    const text = await events.text();
    expect(text.match(/^id: \d+$/gm)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((seq) => `id: ${seq}`));
    const received = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(received.map(({ event, delta }) => event ?? delta)).toEqual([
      'run_started',
      'One ',
      'two ',
      'run_started',
      'Hello',
      ' ',
      'there.',
      'done',
    ]);
    await app.close();
  });

  test('delete the trace of an attempt when they retry its run', async () => {
    const app = await startApp();
    const bot = await app.tenant().then((tenant) => tenant.bot());
    const { script, begun, finish } = held();
    app.upstream.script(script);
    const id = await createOrphan(bot, { spans: [{ name: 'of the first attempt' }] });
    await endDelay(id);
    await expect.poll(() => begun.length).toBe(1);
    expect(JSON.stringify((await findRun(id)).spans)).not.toContain('of the first attempt');
    finish();
    await ended(id).toBe('COMPLETED');
    await app.close();
  });

  test('fail a run after three attempts, and cancel one whose cancellation was requested', async () => {
    const app = await startApp();
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const [last, stopped, chat] = [
      await createOrphan(bot, { attempt: 3 }),
      await createOrphan(bot, { cancelRequested: true }),
      await createOrphan(bot, { background: false }),
    ];
    await ended(last).toBe('FAILED');
    await ended(stopped).toBe('CANCELLED');
    await ended(chat).toBe('FAILED');
    for (const id of [last, chat]) expect((await findRun(id)).errorCode).toBe('interrupted');
    expect((await findRun(last)).errorMessage).toBe(
      'The server stopped in each of 3 attempts at the run. There is no further attempt.',
    );
    await app.close();
  });

  test('retry a run whose process lost its ownership', async () => {
    const [first, second] = [await startApp(), await startApp()];
    const { script, begun, finish } = held();
    for (const app of [first, second]) app.upstream.script(script);
    const tenant = await first.tenant();
    const id = await enqueue(first, tenant, await tenant.bot());
    await expect.poll(() => begun.length).toBe(1);
    const { ownerId } = await findRun(id);
    await prisma.owner.delete({ where: { id: ownerId ?? '' } });
    // Either another process finds the run, or its own one notices the loss and requeues it, which is no attempt.
    const attempts = async () => {
      const where = { id, status: 'QUEUED' } as const;
      await prisma.run.updateMany({ where, data: { availableAt: new Date(0) } });
      return begun.length;
    };
    await expect.poll(attempts).toBe(2);
    expect((await findRun(id)).ownerId).not.toBe(ownerId);
    finish();
    await ended(id).toBe('COMPLETED');
    expect((await findRun(id)).response).toBe('One two three.');
    await Promise.all([first.close(), second.close()]);
  });

  test('take over the active and queued runs of a replica that shuts down', async () => {
    const first = await startApp();
    const { script, begun } = held();
    first.upstream.script(script);
    const tenant = await first.tenant();
    const bot = await tenant.bot();
    const ids = await Promise.all(Array.from({ length: 12 }, () => enqueue(first, tenant, bot)));
    await expect.poll(() => begun.length).toBe(10);
    await first.close();
    for (const id of ids) expect(await status(id)).toBe('QUEUED');
    const second = await startApp();
    for (const id of ids) await ended(id).toBe('COMPLETED');
    const runs = await prisma.run.findMany({ where: { botId: bot } });
    expect(runs.map(({ response, attempt }) => `${attempt} ${response}`)).toEqual(
      Array(12).fill('1 Hello there.'),
    );
    await second.close();
  });
});
