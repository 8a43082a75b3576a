import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, test } from 'vitest';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { frames } from '../../helpers/stream.ts';

let app: TestApp;
let other: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  // A second replica on the same database. The two do not notify each other.
  other = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const STREAM = { accept: 'text/event-stream' };

/** Begins a chat that sends three words, and the fourth when the test calls `finish`. */
async function begin({ headers = {}, stream = true } = {}) {
  const sent = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  let hungUp: Promise<unknown> = Promise.resolve();
  app.upstream.script(async ({ say, end, closed }) => {
    hungUp = closed;
    for (const word of ['One ', 'two ', 'three ']) say(word);
    sent.resolve();
    await Promise.race([finish.promise, closed]);
    say('four.');
    end();
  });
  const client = new AbortController();
  const response = await fetch(`${app.url}/v1/bots/${bot}/chat`, {
    method: 'POST',
    signal: client.signal,
    headers: { ...tenant.headers, ...STREAM, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ message: 'Count', stream }),
  });
  await sent.promise;
  const runId = response.headers.get('x-run-id') ?? '';
  return { response, runId, finish: finish.resolve, hungUp: () => hungUp, client };
}

const events = (runId: string, { url = app.url, after = '', headers = {} } = {}) =>
  fetch(`${url}/v1/bots/${bot}/runs/${runId}/events${after && `?after=${after}`}`, {
    headers: { ...tenant.headers, ...headers },
  });

const findRun = (id: string) => app.prisma.run.findUniqueOrThrow({ where: { id } });
const cancel = (runId: string, url = app.url, botId = bot) =>
  fetch(`${url}/v1/bots/${botId}/runs/${runId}/cancel`, {
    method: 'POST',
    headers: tenant.headers,
  });

const WHOLE = [
  { event: 'run_started', delta: '', run_id: expect.any(String), session_id: expect.any(String) },
  { delta: 'One ' },
  { delta: 'two ' },
  { delta: 'three ' },
  { delta: 'four.' },
  { event: 'done', run_id: expect.any(String), latency_ms: expect.any(Number) },
];

describe('the events of a run', () => {
  test('are followed live on the same and on another replica, and replayed after the end', async () => {
    const { runId, finish, response } = await begin();
    const followed = [await events(runId), await events(runId, { url: other.url })];
    finish();
    await response.text();
    for (const stream of followed) expect(await frames(stream)).toEqual(WHOLE);
    for (const { url } of [app, other]) {
      expect(await frames(await events(runId, { url }))).toEqual(WHOLE);
    }
  });

  test('are numbered, and read from any position', async () => {
    const { runId, finish, response } = await begin();
    finish();
    await response.text();
    const text = await (await events(runId)).text();
    expect(text.match(/^id: \d+$/gm)).toEqual([1, 2, 3, 4, 5, 6].map((seq) => `id: ${seq}`));
    for (const position of [0, 1, 2, 3, 4, 5, 6]) {
      const after = String(position);
      expect(await frames(await events(runId, { after }))).toEqual(WHOLE.slice(position));
      const resumed = await events(runId, { headers: { 'last-event-id': after } });
      expect(resumed.status).toBe(position < 6 ? 200 : 204);
      expect(await frames(resumed)).toEqual(WHOLE.slice(position));
    }
    expect(await frames(await events(runId, { after: '5' }))).toMatchObject([{ run_id: runId }]);
  });

  test('can be requested after any whole number, of any size', async () => {
    const { runId, finish, response } = await begin();
    finish();
    await response.text();
    for (const after of ['999999999', '1000000000', '2147483648', '9'.repeat(400)]) {
      const answer = await events(runId, { after });
      expect([answer.status, await frames(answer)]).toEqual([200, WHOLE.slice(-1)]);
      const resumed = await events(runId, { headers: { 'last-event-id': after } });
      expect([resumed.status, await resumed.text()]).toEqual([204, '']);
      expect(resumed.headers.get('x-ratelimit-limit')).not.toBeNull();
    }
    expect(await (await events(runId, { after: '99' })).text()).toMatch(/^id: 6\ndata: /);
    const refused = await events(runId, { after: '1e9' });
    expect(await refused.json()).toMatchObject({
      error: { details: [{ path: 'after', message: 'must be a whole number' }] },
    });
  });

  test('are followed over GraphQL from any position', async () => {
    const { runId, finish } = await begin();
    const client = createClient({
      url: other.webSocketUrl,
      connectionParams: { Authorization: tenant.headers.authorization },
    });
    const query = `subscription { runEvents(runId: "${runId}", after: 2) { __typename ... on TextDelta { seq delta } } }`;
    finish();
    const results = await Array.fromAsync(client.iterate({ query }), ({ data }) => data?.runEvents);
    expect(results).toEqual([
      { __typename: 'TextDelta', seq: 3, delta: 'two ' },
      { __typename: 'TextDelta', seq: 4, delta: 'three ' },
      { __typename: 'TextDelta', seq: 5, delta: 'four.' },
      { __typename: 'ChatDone' },
    ]);
    await client.dispose();
  });

  test('are not lost when a client disconnects and reconnects', async () => {
    const { runId, finish, client } = await begin({ headers: { 'x-on-disconnect': 'continue' } });
    client.abort();
    const again = await events(runId, { after: '2' });
    finish();
    expect(await frames(again)).toEqual(WHOLE.slice(2));
    expect(await findRun(runId)).toMatchObject({ status: 'COMPLETED' });
  });

  test('end with the interruption for every reader of an interrupted run, at any position', async () => {
    const { runId, finish, response } = await begin();
    finish();
    await response.text();
    const row = await findRun(runId);
    await app.prisma.run.update({
      where: { id: runId },
      data: {
        status: 'FAILED',
        errorCode: 'interrupted',
        errorMessage: 'The server was stopped.',
        events: (row.events as unknown[]).slice(0, 3) as string[],
      },
    });
    for (const after of ['2', '3', '4', '5', '99']) {
      const read = await frames(await events(runId, { after }));
      expect(read.at(-1)).toMatchObject({ event: 'done', status: 'failed' });
      expect(read.at(-2)).toMatchObject({ event: 'error', error: { code: 'interrupted' } });
      expect(read.length).toBe(after === '2' ? 3 : 2);
    }
  });

  test('end an EventSource that had received more than the stored events, by 204 after the interruption', async () => {
    const { runId, finish, response } = await begin();
    finish();
    await response.text();
    const { events: stored } = await findRun(runId);
    await app.prisma.run.update({
      where: { id: runId },
      data: {
        status: 'FAILED',
        errorCode: 'interrupted',
        errorMessage: 'The server was stopped.',
        events: (stored as unknown[]).slice(0, 3) as string[],
      },
    });
    const resume = async (position: string) => {
      const answer = await events(runId, { headers: { 'last-event-id': position } });
      const text = await answer.text();
      return {
        status: answer.status,
        ids: [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id),
      };
    };
    expect(await resume('2')).toEqual({ status: 200, ids: ['3', '4'] });
    for (const position of ['4', '5', '99'])
      expect(await resume(position)).toEqual({ status: 200, ids: ['2147483647'] });
    expect(await resume('2147483647')).toEqual({ status: 204, ids: [] });
  });

  test('end an EventSource in the same way if the text of the run was erased', async () => {
    const { runId, finish, response } = await begin();
    finish();
    await response.text();
    const erased = { response: null, events: Prisma.DbNull };
    await app.prisma.run.update({ where: { id: runId }, data: erased });
    const resume = async (position: string) =>
      events(runId, { headers: { 'last-event-id': position } });
    const answer = await (await resume('5')).text();
    expect(answer).toMatch(/^id: 2147483647\ndata: \{"event":"done".*\}\n\n$/);
    expect((await resume('2147483647')).status).toBe(204);
  });

  test('are never answered with 204 while the run is active', async () => {
    for (const url of [app.url, other.url]) {
      const { runId, finish, response } = await begin();
      const resumed = await events(runId, { url, headers: { 'last-event-id': '4' } });
      expect(resumed.status).toBe(200);
      finish();
      await response.text();
      expect(await frames(resumed)).toEqual(WHOLE.slice(4));
    }
  });

  test('are not found for a run of another bot', async () => {
    const { runId, finish, response } = await begin();
    finish();
    await response.text();
    const otherTenant = await app.tenant();
    const bots = [await otherTenant.bot(), await tenant.bot()];
    const requested = await Promise.all([
      fetch(`${app.url}/v1/bots/${bots[0]}/runs/${runId}/events`, { headers: otherTenant.headers }),
      fetch(`${app.url}/v1/bots/${bots[1]}/runs/${runId}/events`, { headers: tenant.headers }),
      fetch(`${app.url}/v1/bots/${bot}/runs/run_none/events`, { headers: tenant.headers }),
      cancel('run_none'),
    ]);
    for (const answer of requested) {
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: 'run_not_found' } });
    }
    expect((await events(runId, { after: 'x' })).status).toBe(400);
  });
});

describe('cancelling a run', () => {
  test.each([
    ['on its own replica', () => app.url],
    ['on another replica that cannot notify it', () => other.url],
  ])('%s disconnects from the model and keeps the partial response', async (_where, url) => {
    const { runId, response, hungUp } = await begin();
    const answer = await cancel(runId, url());
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ run_id: runId, status: 'cancelled' });
    await hungUp();
    expect((await frames(response)).at(-1)).toMatchObject({ event: 'done', status: 'cancelled' });
    expect(await findRun(runId)).toMatchObject({
      status: 'CANCELLED',
      response: 'One two three ',
      tokensEstimated: true,
      spans: expect.arrayContaining([expect.objectContaining({ status: 'error' })]),
    });
  });

  test('over GraphQL returns the run, and changes nothing after its end', async () => {
    const { runId, finish, response } = await begin();
    const stop = `mutation { cancelRun(id: "${runId}") { status response } }`;
    expect((await tenant.graphql(stop)).data.cancelRun).toEqual({
      status: 'CANCELLED',
      response: 'One two three ',
    });
    finish();
    await response.text();
    expect((await tenant.graphql(stop)).data.cancelRun.status).toBe('CANCELLED');
    const second = await begin();
    second.finish();
    await second.response.text();
    const { data } = await tenant.graphql(
      `mutation { cancelRun(id: "${second.runId}") { status } }`,
    );
    expect(data.cancelRun.status).toBe('COMPLETED');
  });

  test('with a key that may not read runs returns its status, and null for its data', async () => {
    const { runId, finish, response } = await begin();
    const key = await tenant.key({ scopes: ['CHAT'] });
    const answer = await fetch(`${app.url}/v1/bots/${bot}/runs/${runId}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      run_id: runId,
      bot_id: bot,
      status: 'cancelled',
      deployment_id: null,
      input: null,
      response: null,
      error: null,
      trace: null,
    });
    const stop = (fields: string) =>
      app.graphql(key, `mutation { cancelRun(id: "${runId}") { ${fields} } }`);
    expect((await stop('id status latencyMs tokensUsed')).data.cancelRun).toMatchObject({
      status: 'CANCELLED',
    });
    expect((await stop('response')).errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
    finish();
    await response.text();
  });

  test('requires the scope CHAT or RUNS', async () => {
    const { runId, finish, response } = await begin();
    const key = await tenant.key({ scopes: ['DEPLOY'] });
    const refused = await app.graphql(key, `mutation { cancelRun(id: "${runId}") { id } }`);
    expect(refused.errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
    finish();
    await response.text();
    expect(await findRun(runId)).toMatchObject({ status: 'COMPLETED' });
  });
});

describe('a client that disconnects', () => {
  test('cancels its run unless another reader follows it', async () => {
    const { runId, client, finish } = await begin();
    const listening = await events(runId);
    const reader = listening.body?.getReader();
    await reader?.read();
    client.abort();
    finish();
    while (!(await reader?.read())?.done);
    expect(await findRun(runId)).toMatchObject({ status: 'COMPLETED' });
    const alone = await begin();
    alone.client.abort();
    await alone.hungUp();
    await expect.poll(() => findRun(alone.runId)).toMatchObject({ status: 'CANCELLED' });
  });
});
