import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { BEGIN } from '../../src/runs/life/statements.ts';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { cutError, withMember, withSql } from '../helpers/lossy-database.ts';
import { frames } from '../helpers/stream.ts';
import type { Script } from '../helpers/upstream.ts';

let app: TestApp;
let other: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  other = await startApp();
  other.upstream.script(({ say, end }) => {
    say('From the other one.');
    end();
  });
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const withKey = (key: string, more = {}) => ({ 'idempotency-key': key, ...more });
const post = (url: string, path: string, body: object, headers: Record<string, string>) =>
  fetch(`${url}/v1/bots/${bot}/${path}`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const runs = () => app.prisma.run.count({ where: { botId: bot } });

const hello: Script = ({ say, end }) => {
  say('Hello.');
  end();
};
const refusal: Script = ({ response }) => {
  response.writeHead(400).end();
};

describe.each([
  ['chat', { message: 'Hi' }],
  ['execute', { prompt: 'Hi' }],
  ['execute', { prompt: 'Hi', background: true }],
])('a %s that only replays (%o)', (path, body) => {
  const only = { 'idempotency-replay-only': 'true' };

  test('gets the run of its key', async () => {
    app.upstream.script(hello);
    const key = randomUUID();
    const session = { 'x-session-id': key };
    const first = await post(app.url, path, body, withKey(key, session));
    const second = await post(app.url, path, body, withKey(key, { ...session, ...only }));
    expect(second.status).toBe(first.status);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.headers.get('x-run-id')).toBe(first.headers.get('x-run-id'));
  });

  test('begins no run for a free key, and keeps it free', async () => {
    app.upstream.script(hello);
    const key = randomUUID();
    const before = await runs();
    const refused = await post(app.url, path, body, withKey(key, only));
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({ error: { code: 'run_not_found' } });
    expect(await runs()).toBe(before);
    expect((await post(app.url, path, body, withKey(key))).ok).toBe(true);
  });

  test('needs a key', async () => {
    const refused = await post(app.url, path, body, only);
    expect(refused.status).toBe(400);
    const { error } = await refused.json();
    expect(error.code).toBe('invalid_request');
    expect(JSON.stringify(error)).toContain('is required to replay a run');
  });
});

const MIGRATION = 'prisma/migrations/20261124131500_hashed_token_namespaces/migration.sql';

describe('a session token’s request, repeated during an update from version 0.2', () => {
  /** A chat with an idempotency key, by a session token. */
  const startedByToken = async () => {
    const sessionId = randomUUID();
    const { data } = await tenant.graphql(
      `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "${sessionId}" }) { token } }`,
    );
    const key = randomUUID();
    const text = `mutation { chat(botId: "${bot}", input: { message: "Hi", idempotencyKey: "${key}" }) { runId } }`;
    const chat = async (): Promise<string> =>
      (await app.graphql(data.createSessionToken.token, text)).data.chat.runId;
    return { chat, key, former: `token:${bot}:PRODUCTION:${sessionId}` };
  };
  /** Gives a key's record the namespace of version 0.2. */
  const storeAsFormer = (key: string, namespace: string) =>
    app.prisma.idempotencyRecord.updateMany({
      where: { accountId: tenant.accountId, key },
      data: { namespace },
    });

  test('gets the run that a process of that version began', async () => {
    app.upstream.script(hello);
    const { chat, key, former } = await startedByToken();
    const runId = await chat();
    await storeAsFormer(key, former);
    expect([await chat(), await chat()]).toEqual([runId, runId]);
  });

  test('begins a new run once that run has failed', async () => {
    app.upstream.script(hello);
    const { chat, key, former } = await startedByToken();
    const runId = await chat();
    await storeAsFormer(key, former);
    await app.prisma.run.update({ where: { id: runId }, data: { status: 'FAILED' } });
    const second = await chat();
    expect(second).not.toBe(runId);
    expect(await chat()).toBe(second);
  });

  test('gets a run that began before the migration', async () => {
    app.upstream.script(hello);
    const { chat, key, former } = await startedByToken();
    const runId = await chat();
    const where = { accountId: tenant.accountId, key };
    const { namespace } = await app.prisma.idempotencyRecord.findFirstOrThrow({ where });
    const migration = await readFile(MIGRATION, 'utf8');
    const undone = new Error('The records of other tests keep their namespaces.');
    await expect(
      app.prisma.$transaction(async (tx) => {
        await tx.idempotencyRecord.updateMany({ where, data: { namespace: former } });
        await tx.$executeRawUnsafe(migration);
        expect(await tx.idempotencyRecord.findFirst({ where })).toMatchObject({ namespace, runId });
        throw undone;
      }),
    ).rejects.toThrow(undone);
  });
});

/** Makes a session busy until `finish` is called: other messages wait in its queue. */
async function busySession({ url, upstream }: TestApp) {
  const session = { 'x-session-id': randomUUID() };
  const started = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  upstream.script(async ({ say, end }) => {
    started.resolve();
    await finished.promise;
    say('Hello.');
    end();
  });
  const answer = post(url, 'chat', { message: 'Work' }, session);
  await Promise.race([started.promise, answer]);
  return { session, finish: finished.resolve };
}

describe('a chat that only replays', () => {
  test('waits while the first request waits for its session', async () => {
    const { session, finish } = await busySession(app);
    const key = randomUUID();
    const headers = withKey(key, session);
    const first = post(app.url, 'chat', { message: 'Next' }, headers);
    await expect.poll(app.waiting).toBe(1);
    const only = { ...headers, 'idempotency-replay-only': 'true' };
    const replayed = post(other.url, 'chat', { message: 'Next' }, only);
    await expect.poll(other.openResponses).toBe(1);
    app.upstream.script(hello);
    finish();
    const [one, two] = await Promise.all([first, replayed]);
    expect(two.headers.get('idempotency-replayed')).toBe('true');
    expect(two.headers.get('x-run-id')).toBe(one.headers.get('x-run-id'));
  });

  test('finds no run that another caller has begun with the key', async () => {
    app.upstream.script(hello);
    const key = randomUUID();
    expect((await post(app.url, 'chat', { message: 'Hi' }, withKey(key))).ok).toBe(true);
    const { data } = await tenant.graphql(
      `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "${key}" }) { token } }`,
    );
    const { errors } = await app.graphql(
      data.createSessionToken.token,
      `mutation { chat(botId: "${bot}", input: { message: "Hi", idempotencyKey: "${key}", replayOnly: true }) { runId } }`,
    );
    expect(errors?.[0]?.extensions.code).toBe('RUN_NOT_FOUND');
  });
});

const HOUR_MS = 3_600_000;
const LOST = new Error('The connection was cut.');

describe('a request with an idempotency key', () => {
  test.each([
    ['chat', { message: 'Hi' }],
    ['execute', { prompt: 'Hi' }],
  ])('%s gets exactly the first response', async (path, body) => {
    const key = randomUUID();
    const first = await post(app.url, path, body, withKey(key));
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    const before = await runs();
    for (const url of [app.url, other.url]) {
      const again = await post(url, path, body, withKey(key));
      expect(again.status).toBe(200);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.headers.get('x-run-id')).toBe(first.headers.get('x-run-id'));
      expect(await again.text()).toBe(await first.clone().text());
    }
    expect(await runs()).toBe(before);
  });

  test('begins one run if twenty are sent to two replicas at the same time', async () => {
    const key = randomUUID();
    const before = await runs();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        post((index % 2 ? app : other).url, 'chat', { message: 'At once' }, withKey(key)),
      ),
    );
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed')).length).toBe(19);
    expect(await runs()).toBe(before + 1);
  });

  test('joins the stream of an active run from its first event', async () => {
    const key = randomUUID();
    const finish = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('One ');
      say('two ');
      await finish.promise;
      say('three.');
      end();
    });
    const body = { message: 'Count', stream: true };
    const headers = withKey(key, { accept: 'text/event-stream' });
    const first = await post(app.url, 'chat', body, headers);
    const joined = await post(app.url, 'chat', body, headers);
    expect(joined.headers.get('idempotency-replayed')).toBe('true');
    finish.resolve();
    const whole = await frames(first);
    expect(whole).toMatchObject([
      { delta: 'One ' },
      { delta: 'two ' },
      { delta: 'three.' },
      { event: 'done' },
    ]);
    expect(await frames(joined)).toEqual(whole);
    app.upstream.script(hello);
  });

  test('continues after its client disconnects, and a repeat gets the result', async () => {
    const key = randomUUID();
    const finish = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      started.resolve();
      await finish.promise;
      say('Done.');
      end();
    });
    const client = new AbortController();
    const gone = fetch(`${app.url}/v1/bots/${bot}/chat`, {
      method: 'POST',
      signal: client.signal,
      headers: { ...tenant.headers, 'content-type': 'application/json', ...withKey(key) },
      body: '{"message":"Work"}',
    }).catch(() => 'gone');
    await started.promise;
    client.abort();
    expect(await gone).toBe('gone');
    finish.resolve();
    const again = await post(app.url, 'chat', { message: 'Work' }, withKey(key));
    expect(await again.json()).toMatchObject({ response: 'Done.' });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('begins one run if twenty are repeated at the same time after a failure', async () => {
    const key = randomUUID();
    app.upstream.script(refusal);
    expect((await post(app.url, 'chat', { message: 'Hi' }, withKey(key))).status).toBe(500);
    app.upstream.script(hello);
    const before = await runs();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        post((index % 2 ? app : other).url, 'chat', { message: 'Hi' }, withKey(key)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map(({ headers }) => headers.get('x-run-id'))).size).toBe(1);
    expect(await runs()).toBe(before + 1);
  });

  test.each<[string, string, object, Record<string, string>]>([
    ['another message', 'chat', { message: 'Other' }, {}],
    ['another context', 'chat', { message: 'Hi', context: { a: 1 } }, {}],
    ['another session', 'chat', { message: 'Hi' }, { 'x-session-id': 's' }],
    ['another operation', 'execute', { prompt: 'Hi' }, {}],
  ])('is refused with %s under the same key', async (_what, path, body, headers) => {
    const key = randomUUID();
    await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    const refused = await post(app.url, path, body, withKey(key, headers));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
  });

  test('is equal with another order of object members, but not of list items', async () => {
    const key = randomUUID();
    const send = (context: object, metadata: object) =>
      post(app.url, 'execute', { prompt: 'Go', context, metadata }, withKey(key));
    const first = await send({ b: 1, a: [{ d: 2, c: 3 }, 4] }, { '10': 5, y: null, x: { w: '6' } });
    expect(first.status).toBe(200);
    const again = await send({ a: [{ c: 3, d: 2 }, 4], b: 1 }, { x: { w: '6' }, y: null, '10': 5 });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.json()).toEqual(await first.json());
    for (const context of [
      { b: 1, a: [4, { d: 2, c: 3 }] },
      { b: 1, a: [{ d: 3, c: 2 }, 4] },
    ]) {
      const other = await send(context, { '10': 5, y: null, x: { w: '6' } });
      expect(await other.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
    }
  });

  test('can be repeated after its run failed or was refused', async () => {
    const key = randomUUID();
    app.upstream.script(refusal);
    expect((await post(app.url, 'chat', { message: 'Hi' }, withKey(key))).status).toBe(500);
    app.upstream.script(({ say, end }) => {
      say('Well.');
      end();
    });
    const again = await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    expect(await again.json()).toMatchObject({ response: 'Well.' });
    expect(again.headers.get('idempotency-replayed')).toBeNull();

    const empty = await tenant.bot(null);
    const chat = (id: string) => tenant.chat(id, { message: 'Hi' }, withKey(`${key}-2`));
    expect((await chat(empty)).status).toBe(400);
    expect((await chat(bot)).status).toBe(200);
  });

  test('can be repeated after its process died before the run began', async () => {
    const key = randomUUID();
    const first = await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    expect(first.status).toBe(200);
    await app.prisma.idempotencyRecord.update({
      where: {
        accountId_namespace_key: { accountId: tenant.accountId, namespace: `key:${bot}`, key },
      },
      data: { runId: null, ownerId: makeId('own') },
    });
    const again = await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    expect(again.headers.get('idempotency-replayed')).toBeNull();
  });

  /** Moves a run with a key to another process's ownership. */
  const elsewhere = async (key: string, heartbeatAt: Date) => {
    const { prisma } = app;
    app.upstream.script(hello);
    const { id: ownerId } = await prisma.owner.create({ data: { id: makeId('own'), heartbeatAt } });
    const first = await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    const id = first.headers.get('x-run-id') ?? '';
    await prisma.run.update({
      where: { id },
      data: { status: 'RUNNING', ownerId, finishedAt: null },
    });
    // On a slow machine, an app may have declared the process dead before.
    return { id, die: () => prisma.owner.deleteMany({ where: { id: ownerId } }) };
  };

  test.each([false, true])(
    'begins a new run if all processes have died, streamed: %s',
    async (stream) => {
      const key = randomUUID();
      const { id, die } = await elsewhere(key, new Date(Date.now() - 5_000));
      const accept = stream ? { accept: 'text/event-stream' } : {};
      const answer = post(app.url, 'chat', { message: 'Hi', stream }, withKey(key, accept));
      await die();
      const { status, headers } = await answer;
      expect([status, headers.get('idempotency-replayed')]).toEqual([200, null]);
      expect(headers.get('x-run-id')).not.toBe(id);
      expect(await (await answer).text()).toContain('Hello.');
    },
  );

  test('begins a new run if the process of the joined run dies', async () => {
    const key = randomUUID();
    const { id, die } = await elsewhere(key, new Date(Date.now() + 60_000));
    const polled = vi.spyOn(app.prisma.run, 'findUnique');
    const answer = post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    await expect.poll(() => polled.mock.calls.length).toBeGreaterThan(0);
    polled.mockRestore();
    await die();
    const { status, headers } = await answer;
    expect([status, headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(headers.get('x-run-id')).not.toBe(id);
  });

  test('can be repeated if its key was claimed by a delayed statement', async () => {
    const key = randomUUID();
    const { id: ownerId } = await app.prisma.owner.findFirstOrThrow();
    await app.prisma.idempotencyRecord.create({
      data: {
        accountId: tenant.accountId,
        namespace: `key:${bot}`,
        key,
        fingerprint: 'late',
        ownerId,
        claimId: makeId('clm'),
        createdAt: new Date(Date.now() - 91_000),
        expiresAt: new Date(Date.now() + HOUR_MS),
      },
    });
    const answer = await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, null]);
  });

  test('begins its run if the response to its claim is lost', async () => {
    let lost = 0;
    const database = withSql(await testDatabase(), async ({ statement, run }) => {
      const rows = await run();
      if (lost > 0 || statement !== BEGIN) return rows;
      lost += 1;
      throw cutError();
    });
    const losing = await startApp({ database });
    const answer = await post(losing.url, 'chat', { message: 'Hi' }, withKey(randomUUID()));
    expect([answer.status, lost]).toEqual([200, 1]);
    expect(answer.headers.get('idempotency-replayed')).toBeNull();
  });

  test('keeps its result for 24 hours if its run reclaimed the key', async () => {
    const key = randomUUID();
    app.upstream.script(refusal);
    expect((await post(app.url, 'chat', { message: 'Hi' }, withKey(key))).status).toBe(500);
    const where = {
      accountId_namespace_key: { accountId: tenant.accountId, namespace: `key:${bot}`, key },
    };
    await app.prisma.idempotencyRecord.update({
      where,
      data: { expiresAt: new Date(Date.now() + 60_000) },
    });
    app.upstream.script(hello);
    expect((await post(app.url, 'chat', { message: 'Hi' }, withKey(key))).status).toBe(200);
    const { expiresAt } = await app.prisma.idempotencyRecord.findUniqueOrThrow({ where });
    expect(expiresAt.getTime()).toBeGreaterThan(Date.now() + 23 * HOUR_MS);
  });

  test.each([
    ['for the first time', false],
    ['after a run that failed', true],
  ])('can be repeated if the response to its claim is lost %s', async (_which, hasFailed) => {
    const database = withSql(await testDatabase(), async ({ statement, run }) => {
      const rows = await run();
      if (statement === BEGIN) throw LOST;
      return rows;
    });
    const losing = await startApp({ database });
    const key = randomUUID();
    app.upstream.script(refusal);
    if (hasFailed) await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    app.upstream.script(hello);
    expect((await post(losing.url, 'chat', { message: 'Hi' }, withKey(key))).status).toBe(500);
    const again = await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotency-replayed')).toBeNull();
  });

  test('begins one run if the key of a refused request is released twice', async () => {
    const { prisma } = app;
    const { idempotencyRecord } = prisma;
    let returns = 0;
    const deleteMany = async (...which: Parameters<typeof idempotencyRecord.deleteMany>) => {
      await idempotencyRecord.deleteMany(...which);
      returns += 1;
      if (returns === 1) throw LOST;
    };
    const records = withMember(idempotencyRecord, 'deleteMany', deleteMany);
    const losing = await startApp({
      database: {
        ...(await testDatabase()),
        prisma: withMember(prisma, 'idempotencyRecord', records),
      },
    });
    const { session, finish } = await busySession(losing);
    const key = randomUUID();
    const send = (more = {}) =>
      post(losing.url, 'chat', { message: 'Hi' }, withKey(key, { ...session, ...more }));
    expect((await send({ 'x-on-busy': 'reject' })).status).toBe(400);
    const first = send();
    await expect.poll(losing.waiting).toBe(1);
    await expect.poll(() => returns).toBe(2);
    const second = send();
    finish();
    const answers = await Promise.all([first, second]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(answers.map(({ headers }) => headers.get('x-run-id'))).size).toBe(1);
  });

  test('begins no run if its process was evicted and another request has its key', async () => {
    const { session, finish } = await busySession(app);
    const key = randomUUID();
    const send = () => post(app.url, 'chat', { message: 'Hi' }, withKey(key, session));
    const before = await runs();
    const first = send();
    await expect.poll(app.waiting).toBe(1);
    await app.prisma.idempotencyRecord.update({
      where: {
        accountId_namespace_key: { accountId: tenant.accountId, namespace: `key:${bot}`, key },
      },
      data: { ownerId: makeId('own') },
    });
    const second = send();
    await expect.poll(app.waiting).toBe(2);
    finish();
    expect((await first).status).toBe(500);
    expect((await second).status).toBe(200);
    expect(await runs()).toBe(before + 1);
  });

  test('is separate for each account, and expires after a day', async () => {
    const key = randomUUID();
    await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    const otherTenant = await app.tenant();
    const otherAnswer = await otherTenant.chat(
      await otherTenant.bot(),
      { message: 'Other' },
      withKey(key),
    );
    expect(otherAnswer.status).toBe(200);
    await app.prisma.idempotencyRecord.update({
      where: {
        accountId_namespace_key: { accountId: tenant.accountId, namespace: `key:${bot}`, key },
      },
      data: { expiresAt: new Date(0) },
    });
    const later = await post(app.url, 'chat', { message: 'Other' }, withKey(key));
    expect(later.status).toBe(200);
  });

  const CHAT =
    'mutation ($bot: ID!, $input: ChatInput!) { chat(botId: $bot, input: $input) { runId } }';

  test('is separate for each bot', async () => {
    const key = randomUUID();
    const first = await tenant.chat(bot, { message: 'Hi' }, withKey(key));
    const other = await tenant.chat(await tenant.bot(), { message: 'Other' }, withKey(key));
    expect([first.status, other.status]).toEqual([200, 200]);
    expect(other.headers.get('idempotency-replayed')).toBeNull();
  });

  test('from a session token has keys separate from the keys of the backend and of other sessions', async () => {
    const tokenOf = async (sessionId: string) => {
      const { data } = await tenant.graphql(
        'mutation ($input: CreateSessionTokenInput!) { createSessionToken(input: $input) { token } }',
        { input: { botId: bot, sessionId } },
      );
      return data.createSessionToken.token as string;
    };
    const [mine, otherSession] = [randomUUID(), randomUUID()];
    const [page, again, otherPage] = [
      await tokenOf(mine),
      await tokenOf(mine),
      await tokenOf(otherSession),
    ];
    const send = async (credential: string, idempotencyKey: string, message: string) => {
      const input = { message, idempotencyKey };
      const { data, errors } = await app.graphql(credential, CHAT, { bot, input });
      return errors?.[0]?.extensions.code ?? (data.chat.runId as string);
    };
    const [taken, probed] = [randomUUID(), randomUUID()];
    const ofPage = await send(page, taken, 'From the page');
    expect(await send(tenant.apiKey, taken, 'From the backend')).toMatch(/^run_/);
    expect(await send(tenant.apiKey, probed, 'A secret question')).toMatch(/^run_/);
    expect(await send(page, probed, 'A guess')).toMatch(/^run_/);
    expect(await send(otherPage, taken, 'Of another session')).toMatch(/^run_/);
    // A renewed token of the session still finds its run.
    expect(await send(again, taken, 'From the page')).toBe(ofPage);
    expect(await send(again, taken, 'Another')).toBe('IDEMPOTENCY_CONFLICT');
  });

  test('works the same over GraphQL', async () => {
    const idempotencyKey = randomUUID();
    const send = () =>
      tenant.graphql(
        'mutation ($bot: ID!, $input: ChatInput!) { chat(botId: $bot, input: $input) { runId response } }',
        { bot, input: { message: 'Hi', idempotencyKey } },
      );
    const first = await send();
    expect(await send()).toEqual(first);
    const rest = await post(app.url, 'chat', { message: 'Hi' }, withKey(idempotencyKey));
    expect(await rest.json()).toMatchObject({ run_id: first.data.chat.runId });
  });
});
