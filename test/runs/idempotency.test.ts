import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeId } from '../../src/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { frames } from '../helpers/stream.ts';

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
    app.upstream.script(({ say, end }) => {
      say('Hello.');
      end();
    });
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

  test('is free again when its run failed, or was refused before it began', async () => {
    const key = randomUUID();
    app.upstream.script(({ response }) => {
      response.writeHead(400).end();
    });
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
      where: { accountId_key: { accountId: tenant.accountId, key } },
      data: { runId: null, ownerId: makeId('own') },
    });
    const again = await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    expect(again.headers.get('idempotency-replayed')).toBeNull();
  });

  test('means nothing in another account, nor after its day', async () => {
    const key = randomUUID();
    await post(app.url, 'chat', { message: 'Hi' }, withKey(key));
    const stranger = await app.tenant();
    const theirs = await stranger.chat(await stranger.bot(), { message: 'Other' }, withKey(key));
    expect(theirs.status).toBe(200);
    await app.prisma.idempotencyRecord.update({
      where: { accountId_key: { accountId: tenant.accountId, key } },
      data: { expiresAt: new Date(0) },
    });
    const later = await post(app.url, 'chat', { message: 'Other' }, withKey(key));
    expect(later.status).toBe(200);
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
