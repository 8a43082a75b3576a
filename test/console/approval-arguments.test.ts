import { describe, expect, test } from 'vitest';
import {
  fieldsOf,
  readFields,
  readJson,
} from '../../src/console/screens/approvals/argument-fields.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    order_id: { type: 'string', description: 'Of the shop' },
    amount: { type: 'number' },
    count: { type: 'integer' },
    notify: { type: 'boolean' },
    reason: { type: 'string', enum: ['damaged', 'late'] },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['order_id', 'amount'],
};
const GIVEN = { order_id: 'A-1', amount: 5 };
const fields = fieldsOf(SCHEMA, GIVEN) ?? [];

describe('the form of the arguments of a call', () => {
  test('has a field for each declared input', () => {
    expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ['order_id', 'string', true],
      ['amount', 'number', true],
      ['count', 'integer', false],
      ['notify', 'boolean', false],
      ['reason', 'choice', false],
      ['tags', 'list', false],
    ]);
  });

  test('sends nothing if no text differs from the original', () => {
    expect(readFields(fields, {}).edited).toBeUndefined();
    const same = readFields(fields, { amount: '5', order_id: 'A-1', count: '' });
    expect(same).toEqual({ changed: [], faults: {}, edited: undefined });
  });

  test('sends all arguments with the types of the declaration', () => {
    const draft = { order_id: '7', amount: '2.5', count: '3', notify: 'true', tags: '["a"]' };
    expect(readFields(fields, draft)).toEqual({
      changed: ['order_id', 'amount', 'count', 'notify', 'tags'],
      faults: {},
      edited: { order_id: '7', amount: 2.5, count: 3, notify: true, tags: ['a'] },
    });
  });

  test.each([
    ['amount', 'much'],
    ['amount', '1e999'],
    ['amount', ''],
    ['count', '1.5'],
    ['count', '9007199254740993'],
    ['notify', 'yes'],
    ['tags', 'a'],
    ['tags', '{}'],
  ])('names the problem of %s with %j', (name, text) => {
    expect(Object.keys(readFields(fields, { [name]: text }).faults)).toEqual([name]);
  });

  test.each<[string, unknown, Record<string, unknown>]>([
    ['without a schema', null, GIVEN],
    ['of an object in an object', { properties: { a: { type: 'object' } } }, {}],
    ['with an undeclared argument', SCHEMA, { ...GIVEN, more: 1 }],
    ['with a value of another type', SCHEMA, { ...GIVEN, amount: 'five' }],
  ])('gives way to one text of JSON for arguments %s', (_name, schema, given) => {
    expect(fieldsOf(schema, given)).toBeUndefined();
  });

  test('reads one text of JSON', () => {
    expect(readJson('{"order_id":"A-1","amount":5}', GIVEN).changed).toEqual([]);
    expect(readJson('{"amount":6}', GIVEN)).toMatchObject({ edited: { amount: 6 }, faults: {} });
    expect(readJson('[1]', GIVEN).faults).toHaveProperty('arguments');
    expect(readJson('{', GIVEN).faults).toHaveProperty('arguments');
  });
});
