import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { makeId } from '../../src/ids.ts';
import { BEGIN } from '../../src/runs/statements.ts';
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

/** A session that is busy with a message until that is finished: others wait in line. */
async function busySession({ url, upstream }: TestApp) {
  const session = { 'x-session-id': randomUUID() };
  const asked = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  upstream.script(async ({ say, end }) => {
    asked.resolve();
    await finished.promise;
    say('Hello.');
    end();
  });
  const answer = post(url, 'chat', { message: 'Work' }, session);
  await Promise.race([asked.promise, answer]);
  return { session, finish: finished.resolve };
}

const HOUR_MS = 3_600_000;
const LOST = new Error('The connection was cut.');

describe('a request with an idempotency key', () => {
  test.each([
    ['chat', { message: 'Hi' }],
    ['execute', { prompt: 'Hi' }],
  ])('%s is answered by the first one, word for word', async (path, body) => {
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

  test('begins one run, though twenty are sent at once to two replicas', async () => {
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

  test('joins the stream of a run under way from its first event', async () => {
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

  test('goes on without its client, who finds it done', async () => {
    const key = randomUUID();
    const finish = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      asked.resolve();
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
    await asked.promise;
    client.abort();
    expect(await gone).toBe('gone');
    finish.resolve();
    const again = await post(app.url, 'chat', { message: 'Work' }, withKey(key));
    expect(await again.json()).toMatchObject({ response: 'Done.' });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('begins one run, though twenty are sent again at once when it has failed', async () => {
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

  test('is the same in whatever order its JSON has the members of objects, and in no other of lists', async () => {
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

  test('is free again when its run failed, or was refused before it began', async () => {
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

  test('is free again when the process that was to begin it has died', async () => {
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

  /** A run at work on a process that is none of ours, under a key. */
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
    return { id, die: () => prisma.owner.delete({ where: { id: ownerId } }) };
  };

  test.each([false, true])(
    'begins anew when all processes have died, streamed: %s',
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

  test('begins anew when the process dies whose run it has joined', async () => {
    const key = randomUUID();
    const { id, die } = await elsewhere(key, new Date(Date.now() + 60_000));
    const looked = vi.spyOn(app.prisma.run, 'findUnique');
    const answer = post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    await expect.poll(() => looked.mock.calls.length).toBeGreaterThan(0);
    looked.mockRestore();
    await die();
    const { status, headers } = await answer;
    expect([status, headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(headers.get('x-run-id')).not.toBe(id);
  });

  test('is free again when its claim was taken by a statement that came too late', async () => {
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

  test('begins its run though the answer is lost that gave it its key', async () => {
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

  test('is answered for 24 hours by a run that took its key over', async () => {
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
  ])('is free again when the answer is lost that gave it its key %s', async (_which, hasFailed) => {
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

  test('begins one run, though its key is given back twice for one that was refused', async () => {
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

  test('begins no run when its process was taken for dead and another has its key', async () => {
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

  test('means nothing in another account, nor after its day', async () => {
    const key = randomUUID();
    await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    const stranger = await app.tenant();
    const theirs = await stranger.chat(await stranger.bot(), { message: 'Other' }, withKey(key));
    expect(theirs.status).toBe(200);
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

  test('is one of its own at each bot', async () => {
    const key = randomUUID();
    const first = await tenant.chat(bot, { message: 'Hi' }, withKey(key));
    const other = await tenant.chat(await tenant.bot(), { message: 'Other' }, withKey(key));
    expect([first.status, other.status]).toEqual([200, 200]);
    expect(other.headers.get('idempotency-replayed')).toBeNull();
  });

  test('of a page neither takes nor probes the keys of its backend, nor those of another session', async () => {
    const tokenOf = async (sessionId: string) => {
      const { data } = await tenant.graphql(
        'mutation ($input: CreateSessionTokenInput!) { createSessionToken(input: $input) { token } }',
        { input: { botId: bot, sessionId } },
      );
      return data.createSessionToken.token as string;
    };
    const [mine, theirs] = [randomUUID(), randomUUID()];
    const [page, again, stranger] = [
      await tokenOf(mine),
      await tokenOf(mine),
      await tokenOf(theirs),
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
    expect(await send(stranger, taken, 'Of another session')).toMatch(/^run_/);
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
