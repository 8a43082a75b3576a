import Fastify from 'fastify';
import { GraphQLError } from 'graphql';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { GatewayError } from '../../src/errors/errors.ts';
import { ERROR_LOGGING, errorForLog } from '../../src/start/error-log.ts';
import { testDatabase } from '../helpers/database.ts';

/** A secret with a line that looks like a part of a stack. */
const CANARY = 'canary(?<\n    at canary (canary:1:1)\n';

/** The error that some work throws. */
const thrownBy = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work();
  } catch (error) {
    return error;
  }
};

describe('an error in the log', () => {
  test('contains no query arguments', async () => {
    const { prisma } = await testDatabase();
    const update = { promptTokens: 'five', response: 'canary' };
    const error = await thrownBy(() =>
      prisma.run.update({ where: { id: 'run_x' }, data: update as never }),
    );
    expect(String(error)).toContain('canary');
    const logged = errorForLog(new GraphQLError('canary', { originalError: error as Error }));
    expect(logged).toMatchObject({
      type: 'PrismaClientValidationError',
      stack: expect.stringContaining('    at '),
    });
    expect(JSON.stringify(logged)).not.toContain('canary');
  });

  test.each<[string, () => unknown]>([
    ['JSON', () => JSON.parse(CANARY)],
    ['a regular expression', () => new RegExp(CANARY)],
    ['a number', () => BigInt(CANARY)],
    ['an address', () => fetch(`http://[${CANARY}`)],
    [
      'a host name',
      () =>
        Promise.reject(
          Object.assign(new Error('getaddrinfo ENOTFOUND canary'), {
            code: 'ENOTFOUND',
            hostname: 'canary',
          }),
        ),
    ],
    ['a header', () => new Headers({ authorization: CANARY })],
    ['an argument', () => Buffer.from(CANARY as never, 'canary' as never).equals(CANARY as never)],
    ['a failed check', () => z.enum(['a']).parse(CANARY)],
    ['an unknown key', () => z.strictObject({}).parse({ [CANARY]: 1 })],
    ['a code', () => Promise.reject(Object.assign(new Error(CANARY), { code: CANARY }))],
    [
      'PostgreSQL',
      async () => {
        const { prisma } = await testDatabase();
        return prisma.$queryRaw`SELECT ${'canary'}::json`;
      },
    ],
  ])('contains no input that caused it: %s', async (_what, work) => {
    const error = await thrownBy(work);
    expect(error).toBeInstanceOf(Error);
    expect(JSON.stringify(errorForLog(new Error('outer', { cause: error })))).not.toContain(
      'canary',
    );
  });

  test('contains its type, code, stack and cause', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    expect(errorForLog(new TypeError('failed', { cause }))).toMatchObject({
      type: 'TypeError',
      stack: expect.stringMatching(/^ {4}at .*error-log\.test\.ts/),
      cause: { type: 'Error', code: 'ECONNREFUSED' },
    });
    expect(errorForLog('text')).toMatchObject({ type: 'string' });
  });

  test('contains a message that is known to contain no input', () => {
    const known = [
      new GatewayError('model_error', "The model's answer is too long."),
      new Error('Connection terminated unexpectedly'),
    ];
    expect(known.map((error) => errorForLog(error).message)).toEqual(
      known.map(({ message }) => message),
    );
  });

  test('never contains its own message', async () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => lines.push(line) };
    const { log } = Fastify({ logger: { ...ERROR_LOGGING, level: 'trace', stream } });
    const err = new Error(CANARY);
    log.error(err);
    log.error({ err });
    log.error({ err }, CANARY);
    log.warn({ err }, 'Its own words.');
    log.info('No error.');
    log.info({ a: 1 });
    const messages = lines.map((line) => JSON.parse(line).msg);
    const masked = 'Something failed.';
    expect(messages).toEqual([masked, masked, masked, 'Its own words.', 'No error.', undefined]);
    expect(lines.join('')).not.toContain('canary');
  });

  test('ends at a cyclic cause', () => {
    const error = new Error('round');
    error.cause = error;
    expect(JSON.stringify(errorForLog(error)).length).toBeLessThan(20_000);
  });
});
