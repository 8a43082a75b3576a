import {
  type GraphQLField,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { createSignedSecrets } from '../../src/accounts/signed-secrets.ts';
import { ENTRIES } from '../../src/schema/admission/entries.ts';
import { LENGTHS, MEASURED, SCALAR_LENGTHS } from '../../src/schema/admission/sizes.ts';
import { schema } from '../../src/schema/index.ts';
import { TEST_SECRET_KEY } from '../helpers/app.ts';

const FIELDS = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type))
  .filter(({ name }) => !name.startsWith('__'))
  .flatMap((type) =>
    Object.values(type.getFields()).map((field) => ({ name: `${type.name}.${field.name}`, field })),
  );

/** A page, whose arguments bound its entries, or the list in it. */
const isPaged = ({ name, args }: GraphQLField<unknown, unknown>) =>
  name === 'edges' || args.some((argument) => argument.name === 'ids');

const isText = ({ type }: GraphQLField<unknown, unknown>) =>
  ['String', 'JSON'].includes(getNamedType(type).name);

const isList = ({ type }: GraphQLField<unknown, unknown>) => isListType(getNullableType(type));

describe('every field of the schema has a longest answer:', () => {
  test('a text has a length, or is measured', () => {
    const texts = FIELDS.filter(({ field }) => isText(field)).map(({ name }) => name);
    const unknown = (name: string) => !(name in LENGTHS) && !MEASURED.has(name);
    expect(texts.filter(unknown)).toEqual([]);
  });

  test('a list without pages has a number of entries, or is measured', () => {
    const lists = FIELDS.filter(({ field }) => isList(field) && !isPaged(field));
    const unknown = lists.filter(
      ({ name, field }) =>
        !(name in ENTRIES) && !MEASURED.has(name) && !isEnumType(getNamedType(field.type)),
    );
    expect(unknown.map(({ name }) => name)).toEqual([]);
  });

  test('every other value has the length of its type', () => {
    const types = FIELDS.filter(({ field }) => !isText(field)).map(({ field }) =>
      getNamedType(field.type),
    );
    const unknown = types.filter(
      (type) => isLeafType(type) && !isEnumType(type) && !(type.name in SCALAR_LENGTHS),
    );
    expect(unknown).toEqual([]);
  });

  test('no size is of a field that does not exist', () => {
    const names = new Set(FIELDS.map(({ name }) => name));
    const sized = [...Object.keys(LENGTHS), ...Object.keys(ENTRIES), ...MEASURED];
    expect(sized.filter((name) => !names.has(name))).toEqual([]);
  });
});

test.each([
  ['Float', -Number.MAX_VALUE],
  ['Int', -(2 ** 31)],
  ['Boolean', false],
  ['DateTime', new Date(8.64e15)],
  ['ID', 'x'.repeat(64)],
])('the longest %s has its length', (type, value) => {
  expect(JSON.stringify(value).length).toBeLessThanOrEqual(SCALAR_LENGTHS[type] ?? 0);
});

test.each([
  ['Bot.name', '\u0001'.repeat(200)],
  ['Session.sessionId', '😀'.repeat(256)],
  ['Run.inputExcerpt', '\u001f'.repeat(200)],
  ['Deployment.envNames', 'A'.repeat(128)],
  ['Feedback.note', '\u0001'.repeat(2_000)],
])('the longest %s has its length', (name, value) => {
  expect(Buffer.byteLength(JSON.stringify(value))).toBe(LENGTHS[name]);
});

test.each([
  ['CreateApiKeyPayload.secret', makeApiKey()],
  ['CreateSignInCodePayload.code', createSignedSecrets([TEST_SECRET_KEY], 'parley_si_').make()],
])('%s has its length', (field, secret) => {
  expect(JSON.stringify(secret).length).toBeLessThanOrEqual(LENGTHS[field] ?? 0);
});
