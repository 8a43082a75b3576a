import { describe, expect, test } from 'vitest';
import { schemaOfFields } from '../../../src/agent/tools/input.ts';
import { checkAgainst } from '../../../src/agent/tools/schema-check.ts';
import { ToolError } from '../../../src/agent/tools/tool.ts';
import type { Field } from '../../../src/language/definition.ts';

const scalar = (kind: 'string' | 'number' | 'integer' | 'boolean', list = false) => ({
  kind,
  list,
});
const fields: Field[] = [
  { name: 'order_id', type: scalar('string'), optional: false, description: 'Such as A-1042' },
  { name: 'reason', type: { kind: 'choice', choices: ['damaged', 'late'] }, optional: false },
  { name: 'items', type: scalar('string', true), optional: true, description: 'Only these' },
  { name: 'amount', type: scalar('number'), optional: true },
  { name: 'count', type: scalar('integer'), optional: true },
  { name: 'express', type: scalar('boolean'), optional: true },
];
const schema = schemaOfFields(fields);

const problemsOf = (input: unknown, of = schema) => {
  try {
    return checkAgainst(of, input);
  } catch (error) {
    expect(error).toBeInstanceOf(ToolError);
    return String(error).replace('ToolError: The input is not valid. ', '').split('; ');
  }
};

describe('the input of a capability', () => {
  test('is described to the model as JSON Schema', () => {
    expect(schema).toEqual({
      type: 'object',
      properties: {
        order_id: { type: 'string', description: 'Such as A-1042' },
        reason: { type: 'string', enum: ['damaged', 'late'] },
        items: { type: 'array', items: { type: 'string' }, description: 'Only these' },
        amount: { type: 'number' },
        count: expect.objectContaining({ type: 'integer' }),
        express: { type: 'boolean' },
      },
      required: ['order_id', 'reason'],
      additionalProperties: false,
    });
  });

  test('has a schema even without fields', () => {
    const none = schemaOfFields([]);
    expect(none).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: false,
    });
    expect(checkAgainst(none, {})).toEqual({});
  });

  test.each([
    { order_id: 'A-1', reason: 'late' },
    {
      order_id: '',
      reason: 'damaged',
      items: ['a', 'b'],
      amount: -1.5,
      count: 0,
      express: false,
    },
    { order_id: 'A-1', reason: 'late', items: [] },
  ])('is accepted unchanged if it is as declared: %j', (input) => {
    expect(checkAgainst(schema, input)).toEqual(input);
  });

  test('is refused with every problem at once', () => {
    const input = { reason: 'lost', items: ['a', 1], amount: '1', count: 1.5, express: 1, paid: 1 };
    expect(problemsOf(input)).toEqual([
      'order_id: is required',
      'reason: must be one of "damaged", "late"',
      'items.1: must be a string',
      'amount: must be a number',
      'count: must be a whole number',
      'express: must be true or false',
      'Unrecognized key: "paid"',
    ]);
  });

  test.each([undefined, null, [], 'A-1', 1])('is refused if it is not an object: %j', (input) => {
    expect(problemsOf(input)).toEqual(['must be an object']);
  });

  test.each([
    ['null for an optional field', { items: null }, 'items: must be a list'],
    ['a value for a list', { items: 'a' }, 'items: must be a list'],
    ['an infinite number', { amount: Infinity }, 'amount: must be a number'],
    ['an inexact integer', { count: 2 ** 53 }, 'count: must be a whole number'],
  ])('is refused with %s', (_what, input, problem) => {
    expect(problemsOf({ order_id: 'A-1', reason: 'late', ...input })).toEqual([problem]);
  });

  test('may have field names that objects inherit', () => {
    const names = ['constructor', 'toString', 'hasOwnProperty'];
    const oddSchema = (optional: boolean) =>
      schemaOfFields(names.map((name) => ({ name, type: scalar('string'), optional })));
    const odd = oddSchema(false);
    expect(checkAgainst(oddSchema(true), {})).toEqual({});
    expect(problemsOf({}, odd)).toEqual(names.map((name) => `${name}: is required`));
    const input = Object.fromEntries(names.map((name) => [name, 'a']));
    expect(checkAgainst(odd, input)).toEqual(input);
  });
});
