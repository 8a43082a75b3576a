import { describe, expect, test } from 'vitest';
import { type Verdict, verdictOn } from '../../src/errors/outage.ts';

const withCode = (code: string) => Object.assign(new Error('message'), { code });
const fromAdapter = (cause: object) =>
  Object.assign(new Error('message'), { name: 'DriverAdapterError', cause });
const fromPrisma = (cause: object) =>
  Object.assign(new Error('message'), { meta: { driverAdapterError: { cause } } });
const fromRedis = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

describe('an error of a database driver', () => {
  test.each<[Verdict, string, Error]>([
    ['reconnect', 'an unreachable host', withCode('ECONNREFUSED')],
    ['reconnect', 'a lost connection', new Error('Connection terminated unexpectedly')],
    ['reconnect', 'a write on a standby', withCode('25006')],
    ['reconnect', 'a shutdown', withCode('57P01')],
    ['reconnect', 'a server that starts', withCode('57P03')],
    ['reconnect', 'a fatal error', Object.assign(withCode('XX000'), { severity: 'FATAL' })],
    ['reconnect', 'a replica of Redis', fromRedis("READONLY You can't write against a replica.")],
    ['retry', 'a conflict of transactions', withCode('40001')],
    ['retry', 'a statement that took too long', withCode('57014')],
    ['retry', 'a server without connections', fromPrisma({ kind: 'TooManyConnections' })],
    ['retry', 'Redis that reads its data', fromRedis('LOADING Redis is loading')],
    ['refused', 'a wrong password', Object.assign(withCode('28P01'), { severity: 'FATAL' })],
    ['refused', 'an unknown database', fromAdapter({ kind: 'DatabaseDoesNotExist' })],
    ['refused', 'a wrong password of Redis', fromRedis('WRONGPASS invalid')],
    ['defect', 'a wrong statement', withCode('42601')],
    ['defect', 'a duplicate', fromPrisma({ originalCode: '23505' })],
    ['defect', 'an error of a script', fromRedis('ERR Error running script')],
    ['defect', 'an error that quotes a message', new Error('Command timed out: canary')],
    ['defect', 'the name of a function of objects', withCode('constructor')],
  ])('means %s: %s', (verdict, _what, error) => {
    expect(verdictOn(error)).toBe(verdict);
  });
});
