import { describe, expect, test } from 'vitest';
import { checkAgainst } from '../../../src/agent/tools/schema-check.ts';
import { ToolError } from '../../../src/agent/tools/tool.ts';
import type { JsonObject, JsonValue } from '../../../src/text/json.ts';

const problemsOf = (schema: JsonObject, input: JsonObject): string[] => {
  try {
    expect(checkAgainst(schema, input)).toBe(input);
    return [];
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return error.message.replace('The input is not valid. ', '').split('; ');
  }
};
const of = (value: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties: { value },
  required,
});

/** A schema that counts the reads of its members. */
const counted = (schema: JsonObject) => {
  let reads = 0;
  const wrap = (value: JsonValue): JsonValue => {
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.entries(value).map(([name, one]): [string, JsonValue] => [
      name,
      wrap(one),
    ]);
    const copy = Array.isArray(value) ? inner.map(([, one]) => one) : Object.fromEntries(inner);
    return new Proxy(copy, {
      get: (target, name) => {
        reads += 1;
        return Reflect.get(target, name);
      },
    });
  };
  const wrapped = Object.fromEntries(
    Object.entries(schema).map(([name, one]) => [name, wrap(one)]),
  );
  return { schema: wrapped, reads: () => reads };
};

describe('the check of input against a JSON Schema', () => {
  test.each<[string, JsonObject, JsonValue, string[]]>([
    ['a string', { type: 'string' }, 7, ['value: must be a string']],
    ['one of two types', { type: ['string', 'null'] }, 7, ['value: must be a string or null']],
    ['a choice', { enum: ['a', 1] }, 'b', ['value: must be one of "a", 1']],
    ['a constant', { const: 'a' }, 'b', ['value: must be one of "a"']],
    ['a short string', { maxLength: 2 }, '😀😀😀', ['value: must have at most 2 characters']],
    ['a long string', { minLength: 3 }, '😀😀', ['value: must have at least 3 characters']],
    ['a small number', { maximum: 2 }, 3, ['value: must be at most 2']],
    ['a number above a bound', { exclusiveMinimum: 2 }, 2, ['value: must be above 2']],
    ['a short list', { maxItems: 1 }, [1, 2], ['value: must have at most 1 elements']],
    ['a list of strings', { items: { type: 'string' } }, ['a', 1], ['value.1: must be a string']],
    ['an object with required members', { required: ['a'] }, {}, ['value.a: is required']],
    [
      'an object without other members',
      { additionalProperties: false },
      { a: 1 },
      ['value: Unrecognized key: "a"'],
    ],
    [
      'an object with other members by schema',
      { additionalProperties: { const: 1 } },
      { a: 2 },
      ['value.a: must be one of 1'],
    ],
    [
      'all of the schemas',
      { allOf: [{ minimum: 3 }, { maximum: 1 }] },
      2,
      ['value: must be at least 3', 'value: must be at most 1'],
    ],
    [
      'any of the schemas',
      { anyOf: [{ type: 'null' }, { minimum: 3 }] },
      2,
      ['value: matches none of the allowed schemas'],
    ],
  ])('reports a value that is not %s', (_what, schema, value, problems) => {
    expect(problemsOf(of(schema), { value })).toEqual(problems);
  });

  test.each<[string, JsonObject, JsonValue]>([
    ['an unknown type', { type: 'date' }, 7],
    ['a pattern', { pattern: '^(a+)+$' }, `${'a'.repeat(1_000)}!`],
    ['a reference', { $ref: 'https://schemas.example/1' }, 7],
    ['a choice of objects', { enum: [{ a: 1 }] }, { a: 2 }],
    ['keywords of the wrong type', { minimum: 'x', enum: 1, properties: [], items: 7 }, [1]],
    ['oneOf', { oneOf: [{ type: 'string' }, { type: 'number' }] }, 7],
    ['patternProperties', { patternProperties: { a: {} }, additionalProperties: false }, { a: 1 }],
  ])('does not check %s', (_what, schema, value) => {
    expect(problemsOf(of(schema), { value })).toEqual([]);
  });

  test('stops at the 20th problem', () => {
    const list: JsonObject = { items: { type: 'string' } };
    const value = Array(1_000).fill(1);
    const { schema, reads } = counted(of(list));
    expect(problemsOf(schema, { value })).toHaveLength(20);
    expect(reads()).toBeLessThan(500);
  });

  test.each<[string, JsonObject, JsonValue]>([
    [
      'a list with many schemas',
      { items: { anyOf: Array.from({ length: 300 }, (_, index) => ({ const: index })) } },
      Array(10_000).fill(-1),
    ],
    [
      'objects with many members',
      { items: { required: Array.from({ length: 1_000 }, (_, index) => `n${index}`) } },
      Array(10_000).fill({}),
    ],
    [
      'a list whose elements must have a type that is listed many times',
      { items: { type: Array(3_900).fill('integer') } },
      Array(32_000).fill(1),
    ],
    [
      'objects with a member that is required many times',
      { items: { required: Array(3_900).fill('n') } },
      Array(21_000).fill({ n: 1 }),
    ],
    [
      'a long string with many rules',
      { allOf: Array.from({ length: 500 }, () => ({ minLength: 1 })) },
      'x'.repeat(64 * 1024),
    ],
  ])('stops after 50,000 steps with %s', (_what, schema, value) => {
    const { schema: watched, reads } = counted(of(schema));
    problemsOf(watched, { value });
    expect(reads()).toBeLessThan(1_000_000);
    const startedAt = process.cpuUsage();
    problemsOf(of(schema), { value });
    const { user, system } = process.cpuUsage(startedAt);
    expect(user + system).toBeLessThan(1_000_000);
  });
});
