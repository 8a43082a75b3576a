import { describe, expect, inject, test } from 'vitest';
import { VERSION } from '../../src/text/version.ts';
import { startApp, type Tenant } from '../helpers/app.ts';
import { linkRedis } from '../helpers/redis.ts';

const QUERY = `{ server {
  version startedAt model allowedOrigins
  database { name reachable latencyMs }
  redis { name reachable latencyMs }
} }`;

const operatorOf = ({ key }: Tenant) => key({ scopes: ['OPERATOR'] });

const dependency = (name: string) => ({
  name,
  reachable: true,
  latencyMs: expect.any(Number),
});

describe('the state of the server', () => {
  test('is available to an operator', async () => {
    const app = await startApp({ allowedOrigins: ['https://shop.example'] });
    const { data, errors } = await app.graphql(await operatorOf(await app.tenant()), QUERY);
    expect(errors).toBeUndefined();
    expect(data.server).toEqual({
      version: VERSION,
      startedAt: expect.any(String),
      model: 'scripted',
      allowedOrigins: ['https://shop.example'],
      database: dependency(inject('databaseUrl') ? 'PostgreSQL' : 'embedded database'),
      redis: null,
    });
    expect(Date.parse(data.server.startedAt)).toBeLessThan(Date.now());
  });

  test('is limited to the version and the start time for other keys', async () => {
    const app = await startApp();
    const { graphql } = await app.tenant();
    const { data } = await graphql('{ server { version } }');
    expect(data.server.version).toBe(VERSION);
    const { errors } = await graphql(QUERY);
    expect(errors?.map(({ extensions }) => extensions.code)).toContain('INSUFFICIENT_SCOPE');
  });

  test.skipIf(!inject('redisUrl'))('includes whether Redis responds', async () => {
    const { redis, cut } = await linkRedis();
    const app = await startApp({ redis });
    const key = await operatorOf(await app.tenant());
    expect((await app.graphql(key, QUERY)).data.server.redis).toEqual(dependency('Redis'));
    await cut();
    expect((await app.graphql(key, QUERY)).data.server.redis).toEqual({
      name: 'Redis',
      reachable: false,
      latencyMs: null,
    });
  });
});

describe('the limits of an account', () => {
  test('are its own, or else the limits of its plan', async () => {
    const app = await startApp();
    const limitsOf = async (tenant: Tenant) => {
      const query = '{ viewer { account { requestsPerMinute requestsPerDay } } }';
      return (await tenant.graphql(query)).data.viewer.account;
    };
    expect(await limitsOf(await app.tenant({ plan: 'PRO' }))).toEqual({
      requestsPerMinute: 60,
      requestsPerDay: 20_000,
    });
    const own = { requestsPerMinute: 7, requestsPerDay: 70 };
    expect(await limitsOf(await app.tenant(own))).toEqual(own);
  });
});
