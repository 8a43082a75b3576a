import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { PLANS, type PlanLimits } from '../../src/vocabulary/plans.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

describe('an account', () => {
  let app: TestApp;
  let tenant: Tenant;
  const limits: PlanLimits = PLANS.ENTERPRISE;
  const { streams } = limits;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.tenant();
    limits.streams = 2;
  });
  afterAll(async () => {
    limits.streams = streams;
    await app.close();
  });

  test('has a limit of open streams across its keys and transports', async () => {
    const bot = await tenant.bot();
    const finish = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('Hello.');
      await finish.promise;
      end();
    });
    const chat = tenant.chat(bot, { message: 'Hi' });
    await expect.poll(() => app.upstream.requests.length).toBe(1);
    const { id: runId } = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });

    const left = new AbortController();
    const followed = await fetch(`${app.url}/v1/bots/${bot}/runs/${runId}/events`, {
      headers: tenant.headers,
      signal: left.signal,
    });
    expect(followed.status).toBe(200);
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: { Authorization: `Bearer ${await tenant.key()}` },
    });
    const follow = () => {
      const query = `subscription { runEvents(runId: "${runId}") { __typename } }`;
      return client.iterate<{ runEvents: object }>({ query });
    };
    await follow().next();

    const refusal = {
      message: 'This account has 2 open streams, the limit of its plan. Close one of them.',
    };
    const refused = await fetch(`${app.url}/v1/bots/${bot}/runs/${runId}/events`, {
      headers: tenant.headers,
    });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({
      error: { code: 'rate_limit_exceeded', retry_after: 1, ...refusal },
    });
    const { value } = await follow().next();
    expect(value?.errors?.[0]).toMatchObject({
      ...refusal,
      extensions: { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 1 },
    });

    left.abort();
    await expect.poll(async () => (await follow().next()).value?.errors).toBeUndefined();
    finish.resolve();
    expect((await chat).status).toBe(200);
    await client.dispose();
  });
});
