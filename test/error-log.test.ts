import { GraphQLError } from 'graphql';
import { describe, expect, test } from 'vitest';
import { errorForLog } from '../src/error-log.ts';
import { testDatabase } from './helpers/database.ts';

describe('an error in the log', () => {
  test('quotes no argument of a query', async () => {
    const { prisma } = await testDatabase();
    const update = { promptTokens: 'five', response: 'canary' };
    const error = await prisma.run
      .update({ where: { id: 'run_x' }, data: update as never })
      .catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('canary');
    const logged = errorForLog(new GraphQLError('canary', { originalError: error as Error }));
    expect(logged).toMatchObject({
      type: 'PrismaClientValidationError',
      message: expect.stringContaining('promptTokens'),
      stack: expect.stringContaining('    at '),
    });
    expect(JSON.stringify(logged)).not.toContain('canary');
  });

  test('says what it was, its code and its cause', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    expect(errorForLog(new TypeError('failed', { cause }))).toMatchObject({
      type: 'TypeError',
      message: 'failed',
      cause: { type: 'Error', message: 'refused', code: 'ECONNREFUSED' },
    });
    expect(errorForLog('text')).toMatchObject({ type: 'string' });
  });
});
