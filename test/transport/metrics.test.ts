import { once } from 'node:events';
import { createServer } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { makeId } from '../../src/text/ids.ts';
import { startEventLoopLag } from '../../src/transport/metrics/event-loop-lag.ts';
import { createMetrics } from '../../src/transport/metrics/metrics.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { readMetrics, sampleOf } from '../helpers/metrics.ts';

const TOKEN = 'a-token-of-the-tests';
const NOON = Date.UTC(2026, 10, 20, 12);

let app: TestApp;
beforeAll(async () => {
  app = await startMetrics();
});

/** Starts an app whose clock stands still, so that no new minute renews a rate limit. */
const startMetrics = () => startApp({ metrics: { token: TOKEN }, clock: () => NOON });

async function scrape(from = app) {
  const response = await from.inject({
    url: '/metrics',
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-type']).toContain('text/plain; version=0.0.4');
  return readMetrics(response.body);
}

/** The growth of one sample during an action. */
async function growth(
  name: string,
  labels: Record<string, string>,
  action: () => Promise<unknown>,
) {
  const before = sampleOf(await scrape(), name, labels);
  await action();
  return async () => sampleOf(await scrape(), name, labels) - before;
}

describe('the metrics', () => {
  test('have the documented names and labels, and no others', async () => {
    const own = await startMetrics();
    const tenant = await own.tenant({ plan: 'FREE' });
    const bot = await tenant.bot('tools time');
    own.upstream.script(({ request, call, say, end }) => {
      if (request.body.messages.at(-1)?.role === 'tool') {
        say('It is noon.');
        return end();
      }
      call(['time_now', {}]);
    });
    await tenant.chat(bot, { message: 'What time is it?' });
    for (const _ of Array(10)) await tenant.chat('nobody', { message: 'Hi' });
    const labels = Map.groupBy(await scrape(own), ({ name }) =>
      name.replace(/_(bucket|sum|count)$/, ''),
    );
    const names = [...labels].map(([name, samples]) => {
      const labelNames = samples.flatMap((sample) => Object.keys(sample.labels));
      return [name, [...new Set(labelNames)].filter((label) => label !== 'le').sort()];
    });
    expect(Object.fromEntries(names)).toEqual({
      parley_batch_size: ['statement'],
      parley_connections: [],
      parley_redis_degraded: [],
      parley_event_loop_lag_seconds: [],
      parley_http_requests_total: ['method', 'route', 'status'],
      parley_model_duration_seconds: ['model'],
      parley_model_fallbacks_total: [],
      parley_model_tokens_total: ['direction'],
      parley_queue_depth: [],
      parley_queue_oldest_seconds: [],
      parley_rate_limited_total: [],
      parley_run_duration_seconds: [],
      parley_runs_total: ['channel', 'kind', 'status'],
      parley_tool_duration_seconds: [],
    });
  });

  test('count requests by the pattern of their route', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    app.upstream.script(({ say, end }) => {
      say('Hello.');
      end();
    });
    const route = '/v1/bots/:id/chat';
    const chats = await growth(
      'parley_http_requests_total',
      { route, method: 'POST', status: '200' },
      async () => {
        await tenant.chat(bot, { message: 'Hi' });
        const stream = await tenant.chat(
          bot,
          { message: 'Hi', stream: true },
          { accept: 'text/event-stream' },
        );
        expect(await stream.text()).toContain('"event":"done"');
      },
    );
    await expect.poll(chats).toBe(2);
    const unknown = await growth(
      'parley_http_requests_total',
      { route: 'none', method: 'GET', status: '404' },
      () => fetch(`${app.url}/nothing/${makeId('bot')}`),
    );
    await expect.poll(unknown).toBe(1);
    const routes = (await scrape()).flatMap(({ labels }) => labels.route ?? []);
    expect(routes.filter((pattern) => /_[0-9a-z]{26}/.test(pattern))).toEqual([]);
  });

  test('count runs, their tokens and their time', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    app.upstream.script(({ say, end }) => {
      say('Hello.');
      end({ prompt_tokens: 7, completion_tokens: 5 });
    });
    const chat = () => tenant.chat(bot, { message: 'Hi' });
    const completed = { kind: 'chat', channel: 'api', status: 'completed' };
    const runs = await growth('parley_runs_total', completed, chat);
    await expect.poll(runs).toBe(1);
    const input = await growth('parley_model_tokens_total', { direction: 'input' }, chat);
    await expect.poll(input).toBe(7);
    const output = await growth('parley_model_tokens_total', { direction: 'output' }, chat);
    await expect.poll(output).toBe(5);
    const durations = await growth('parley_run_duration_seconds_count', {}, chat);
    await expect.poll(durations).toBe(1);
  });

  test('count the statements that begin and end runs, by the number of runs', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    for (const statement of ['begin', 'end']) {
      const runs = await growth('parley_batch_size_sum', { statement }, () =>
        Promise.all([1, 2, 3].map(() => tenant.chat(bot, { message: 'Hi' }))),
      );
      await expect.poll(runs).toBe(3);
    }
  });

  test('count runs that failed', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    app.upstream.script(({ response }) => void response.writeHead(400).end('{}'));
    const failed = { kind: 'chat', channel: 'api', status: 'failed' };
    const runs = await growth('parley_runs_total', failed, () =>
      tenant.chat(bot, { message: 'Hi' }),
    );
    await expect.poll(runs).toBe(1);
  });

  test.each([
    [401, 'unauthorized'],
    [404, 'not_found'],
    [400, 'bad_request'],
  ])('count model calls that failed with %i as %s', async (status, reason) => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    app.upstream.script(({ response }) => void response.writeHead(status).end('{}'));
    const errors = await growth('parley_model_errors_total', { reason }, () =>
      tenant.chat(bot, { message: 'Hi' }),
    );
    await expect.poll(errors).toBe(1);
  });

  test('count failed model calls that another model took over', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot('model "a" { fallback "b" }');
    app.upstream.script(({ request, response, say, end }) => {
      if (request.body.model === 'a') return void response.writeHead(404).end('{}');
      say('Hello.');
      end();
    });
    const count = await growth('parley_model_fallbacks_total', {}, () =>
      tenant.chat(bot, { message: 'Hi' }),
    );
    await expect.poll(count).toBe(1);
  });

  test('name only the operator’s model, and no model of a tenant', async () => {
    const tenant = await app.tenant();
    app.upstream.script(({ say, end }) => {
      say('Hello.');
      end();
    });
    const calls = (model: string, bot: string) =>
      growth('parley_model_duration_seconds_count', { model }, () =>
        tenant.chat(bot, { message: 'Hi' }),
      );
    await expect.poll(await calls('scripted', await tenant.bot())).toBe(1);
    const named = await tenant.bot('model "chosen-by-a-tenant"');
    await expect.poll(await calls('own', named)).toBe(1);
    const models = (await scrape()).flatMap(({ labels }) => labels.model ?? []);
    expect(new Set(models)).toEqual(new Set(['scripted', 'own']));
  });

  test('count requests over a rate limit', async () => {
    const tenant = await app.tenant({ plan: 'FREE' });
    const refused = await growth('parley_rate_limited_total', {}, async () => {
      const requests = Array.from({ length: 13 }, () => tenant.graphql('{ __typename }'));
      await Promise.all(requests);
    });
    await expect.poll(refused).toBe(3);
  });

  test('show the queue with the age of its oldest run, and runs that a crash interrupted', async () => {
    const tenant = await app.tenant();
    const botId = await tenant.bot();
    const what = { botId, environment: 'PRODUCTION', channel: 'API', input: 'Hi' } as const;
    const waiting = makeId('run');
    await app.prisma.run.create({
      data: {
        ...what,
        id: waiting,
        kind: 'EXECUTE',
        status: 'QUEUED',
        background: true,
        accountId: tenant.accountId,
        createdAt: new Date(Date.now() - 90_000),
        availableAt: new Date(Date.now() + 3_600_000),
      },
    });
    const samples = await scrape();
    expect(sampleOf(samples, 'parley_queue_depth')).toBeGreaterThanOrEqual(1);
    expect(sampleOf(samples, 'parley_queue_oldest_seconds')).toBeGreaterThanOrEqual(90);

    const cancelled = { kind: 'execute', channel: 'api', status: 'cancelled' };
    const cancels = await growth('parley_runs_total', cancelled, () =>
      fetch(`${app.url}/v1/bots/${botId}/runs/${waiting}/cancel`, {
        method: 'POST',
        headers: tenant.headers,
      }),
    );
    await expect.poll(cancels).toBe(1);

    const interrupted = { kind: 'chat', channel: 'web', status: 'failed' };
    const failures = await growth('parley_runs_total', interrupted, () =>
      app.prisma.run.create({
        data: { ...what, id: makeId('run'), kind: 'CHAT', channel: 'WEB', status: 'RUNNING' },
      }),
    );
    await expect.poll(failures).toBe(1);
  });

  test('count open connections', async () => {
    // An app of its own, since idle connections of earlier requests close at any time.
    const quiet = await startApp({ metrics: { token: TOKEN } });
    const connections = async () => sampleOf(await scrape(quiet), 'parley_connections');
    expect(await connections()).toBe(0);
    const socket = new WebSocket(quiet.webSocketUrl, 'graphql-transport-ws');
    await once(socket, 'open');
    expect(await connections()).toBe(1);
    socket.terminate();
  });
});

describe('a scrape while the database is down', () => {
  test('still has every other metric', async () => {
    const metrics = createMetrics();
    const queueDepth = () => Promise.reject(new Error('The database is away.'));
    metrics.readFrom({ server: createServer(), queueDepth });
    metrics.observer.toolCalled(1);
    const samples = readMetrics(await metrics.render());
    expect(sampleOf(samples, 'parley_queue_depth')).toBeNaN();
    expect(sampleOf(samples, 'parley_tool_duration_seconds_count')).toBe(1);
  });
});

describe('the event-loop lag', () => {
  test('is the time for which the process was blocked', async () => {
    const lags: number[] = [];
    await using _measuring = startEventLoopLag((seconds) => lags.push(seconds));
    const until = performance.now() + 400;
    while (performance.now() < until);
    await expect.poll(() => lags.length).toBeGreaterThan(0);
    expect(lags[0]).toBeGreaterThan(0.2);
  });
});

describe('access to the metrics', () => {
  const request = (authorization?: string, remoteAddress = '192.0.2.1') =>
    app.inject({
      url: '/metrics',
      remoteAddress,
      headers: authorization ? { authorization } : {},
    });

  test('requires the token on the main port', async () => {
    const tenant = await app.tenant();
    const none = await request();
    expect([none.statusCode, none.json().error.code]).toEqual([401, 'missing_api_key']);
    for (const wrong of [`Bearer ${TOKEN}x`, TOKEN, tenant.headers.authorization]) {
      const answer = await request(wrong);
      expect([answer.statusCode, answer.json().error.code]).toEqual([401, 'invalid_api_key']);
      expect(answer.body).not.toContain(TOKEN);
    }
  });

  test('counts wrong tokens against the address', async () => {
    const guesses = await Promise.all(
      Array.from({ length: 40 }, (_, guess) =>
        request(`Bearer guess-number-${guess}`, '192.0.2.2'),
      ),
    );
    const statuses = guesses.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 401)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect((await request(`Bearer ${TOKEN}`, '192.0.2.2')).statusCode).toBe(200);
  });

  test('returns 404 if metrics are not configured', async () => {
    const other = await startApp();
    expect((await fetch(`${other.url}/metrics`)).status).toBe(404);
  });

  test('requires no token on the metrics port, which serves nothing else', async () => {
    const other = await startApp({ metrics: { server: true } });
    expect((await fetch(`${other.url}/metrics`)).status).toBe(404);
    const labelNames = other.metricsHttp;
    const answer = await labelNames?.inject('/metrics');
    expect(answer?.statusCode).toBe(200);
    expect(readMetrics(answer?.body ?? '').length).toBeGreaterThan(10);
    expect((await labelNames?.inject('/graphql'))?.statusCode).toBe(404);
  });
});
