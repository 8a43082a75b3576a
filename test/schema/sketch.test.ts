import { readFile } from 'node:fs/promises';
import {
  buildASTSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  parse,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';

let promised: GraphQLSchema;
beforeAll(async () => {
  const text = await readFile(new URL('../fixtures/promised.graphql', import.meta.url), 'utf8');
  promised = buildASTSchema(parse(text), { assumeValid: true });
});

const typesOf = (from: GraphQLSchema) =>
  Object.values(from.getTypeMap()).filter(
    (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
  );

type Field = GraphQLField<unknown, unknown> | GraphQLInputField;

const fieldsOf = (type: GraphQLNamedType | undefined): Record<string, Field> =>
  isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? type.getFields() : {};

const argumentsOf = (field: Field | undefined): readonly GraphQLArgument[] =>
  field && 'args' in field ? field.args : [];

/** Whether what is answered is of the type that was promised, or never null besides. */
const isAnswerOf = (type: string, wanted: string) =>
  type === wanted || type.replace(/!$/, '') === wanted;

/** Whether whatever was promised to be taken is taken: what may be left out still may. */
const isTakenAs = ({ type, defaultValue }: GraphQLArgument | GraphQLInputField, wanted: string) =>
  String(type) === wanted ||
  String(type) === wanted.replace(/!$/, '') ||
  (defaultValue !== undefined && isNonNullType(type) && String(type.ofType) === wanted);

/** What a client that was written to the promise would miss. */
function missingIn(real: GraphQLSchema): string[] {
  const missing: string[] = [];
  for (const wanted of typesOf(promised)) {
    const type = real.getType(wanted.name);
    if (type?.constructor.name !== wanted.constructor.name) {
      missing.push(wanted.name);
      continue;
    }
    if (isEnumType(wanted) && isEnumType(type)) {
      for (const { name } of wanted.getValues()) {
        if (!type.getValue(name)) missing.push(`${type.name}.${name}`);
      }
    }
    if (isUnionType(wanted) && isUnionType(type)) {
      const names = type.getTypes().map(({ name }) => name);
      for (const { name } of wanted.getTypes()) {
        if (!names.includes(name)) missing.push(`${type.name} = ${name}`);
      }
    }
    if (isObjectType(wanted) && isObjectType(type)) {
      const names = type.getInterfaces().map(({ name }) => name);
      for (const { name } of wanted.getInterfaces()) {
        if (!names.includes(name)) missing.push(`${type.name} implements ${name}`);
      }
    }
    for (const field of Object.values(fieldsOf(wanted))) {
      const found = fieldsOf(type)[field.name];
      const fits = (one: Field) =>
        'defaultValue' in one
          ? isTakenAs(one, String(field.type))
          : isAnswerOf(String(one.type), String(field.type));
      if (!found || !fits(found)) missing.push(`${type.name}.${field.name}: ${field.type}`);
      for (const argument of argumentsOf(field)) {
        const same = argumentsOf(found).find(({ name }) => name === argument.name);
        if (!same || !isTakenAs(same, String(argument.type))) {
          missing.push(`${type.name}.${field.name}(${argument.name}: ${argument.type})`);
        }
      }
    }
    const wantedFields = fieldsOf(wanted);
    for (const field of Object.values(fieldsOf(type))) {
      const known = new Set(argumentsOf(wantedFields[field.name]).map(({ name }) => name));
      const isDemand = (one: GraphQLArgument | GraphQLInputField) =>
        isNonNullType(one.type) && one.defaultValue === undefined;
      if (isInputObjectType(type) && 'defaultValue' in field && !wantedFields[field.name]) {
        if (isDemand(field)) missing.push(`${type.name} without ${field.name}`);
      }
      if (!wantedFields[field.name]) continue;
      for (const argument of argumentsOf(field)) {
        if (!known.has(argument.name) && isDemand(argument)) {
          missing.push(`${type.name}.${field.name} without ${argument.name}`);
        }
      }
    }
  }
  return missing;
}

/** Everything that a client can read about, by its path. */
function* describedIn(real: GraphQLSchema): Generator<[string, string | null | undefined]> {
  for (const type of typesOf(real)) {
    yield [type.name, type.description];
    if (isEnumType(type)) {
      for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value.description];
    }
    for (const field of Object.values(fieldsOf(type))) {
      yield [`${type.name}.${field.name}`, field.description];
      for (const { name, description } of argumentsOf(field)) {
        yield [`${type.name}.${field.name}(${name})`, description];
      }
    }
  }
}

describe('the schema', () => {
  test('has all that clients were promised, in types that they can rely on', () => {
    expect(missingIn(schema)).toEqual([]);
  });

  test('says something of every type, field, argument and value', () => {
    const all = [...describedIn(schema)];
    expect(all.length).toBeGreaterThan(300);
    const silent = all.filter(([, text]) => !text?.trim()).map(([path]) => path);
    expect(silent).toEqual([]);
  });
});
