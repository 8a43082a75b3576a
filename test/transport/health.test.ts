import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
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
    await app.register(serveHealth, { dependencies: { database }, isClosing: () => false });
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
