import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors/errors.ts';
import { serveHealth } from '../../src/transport/health.ts';

describe('many simultaneous readiness requests', () => {
  test('probe the database once, and all get the result', async () => {
    const app = Fastify();
    let probes = 0;
    let answered = Promise.withResolvers<void>();
    const database = () => {
      probes += 1;
      return answered.promise;
    };
    await app.register(serveHealth, { dependencies: () => ({ database }), isClosing: () => false });
    await app.ready();
    const request = () => app.inject('/readyz').then(({ statusCode }) => statusCode);
    const flood = Array.from({ length: 50 }, request);
    await expect.poll(() => probes).toBe(1);
    answered.resolve();
    expect(new Set(await Promise.all(flood))).toEqual(new Set([200]));
    expect(probes).toBe(1);

    answered = Promise.withResolvers();
    answered.reject(new Error('gone'));
    expect(await request()).toBe(503);
    expect(probes).toBe(2);
  });
});

test('readiness names the missing dependencies, and the reasons that clients may see', async () => {
  const app = Fastify();
  const dependencies = {
    database: () => Promise.reject(new GatewayError('internal_error', 'PostgreSQL is read-only.')),
    redis: () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:6379')),
  };
  await app.register(serveHealth, { dependencies: () => dependencies, isClosing: () => false });
  const response = await app.inject('/readyz');
  expect(response.statusCode).toBe(503);
  expect(response.json()).toEqual({
    status: 'unavailable',
    missing: ['database', 'redis'],
    reasons: ['PostgreSQL is read-only.'],
  });
});

test('readiness shows what is wrong although the process is ready', async () => {
  const app = Fastify();
  const warnings = () => ['Redis may delete data.'];
  await app.register(serveHealth, { dependencies: () => ({}), warnings, isClosing: () => false });
  const response = await app.inject('/readyz');
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual({ status: 'ready', warnings: ['Redis may delete data.'] });
});
