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

/** Whether the result type is the promised one, or its non-null form. */
const returnsPromised = (type: string, wanted: string) =>
  type === wanted || type.replace(/!$/, '') === wanted;

/** Whether an argument accepts all promised values, and is optional if it was promised as optional. */
const acceptsPromised = (
  { type, defaultValue }: GraphQLArgument | GraphQLInputField,
  wanted: string,
) =>
  String(type) === wanted ||
  String(type) === wanted.replace(/!$/, '') ||
  (defaultValue !== undefined && isNonNullType(type) && String(type.ofType) === wanted);

/** The parts of the promised schema that clients would miss. */
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
          ? acceptsPromised(one, String(field.type))
          : returnsPromised(String(one.type), String(field.type));
      if (!found || !fits(found)) missing.push(`${type.name}.${field.name}: ${field.type}`);
      for (const argument of argumentsOf(field)) {
        const same = argumentsOf(found).find(({ name }) => name === argument.name);
        if (!same || !acceptsPromised(same, String(argument.type))) {
          missing.push(`${type.name}.${field.name}(${argument.name}: ${argument.type})`);
        }
      }
    }
    const wantedFields = fieldsOf(wanted);
    for (const field of Object.values(fieldsOf(type))) {
      const known = new Set(argumentsOf(wantedFields[field.name]).map(({ name }) => name));
      const isRequired = (one: GraphQLArgument | GraphQLInputField) =>
        isNonNullType(one.type) && one.defaultValue === undefined;
      if (isInputObjectType(type) && 'defaultValue' in field && !wantedFields[field.name]) {
        if (isRequired(field)) missing.push(`${type.name} without ${field.name}`);
      }
      if (!wantedFields[field.name]) continue;
      for (const argument of argumentsOf(field)) {
        if (!known.has(argument.name) && isRequired(argument)) {
          missing.push(`${type.name}.${field.name} without ${argument.name}`);
        }
      }
    }
  }
  return missing;
}

/** All elements of the schema that have a description, by path. */
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
  test('has all promised types, fields and arguments', () => {
    expect(missingIn(schema)).toEqual([]);
  });

  test('describes every type, field, argument and value', () => {
    const all = [...describedIn(schema)];
    expect(all.length).toBeGreaterThan(300);
    const undescribed = all.filter(([, text]) => !text?.trim()).map(([path]) => path);
    expect(undescribed).toEqual([]);
  });
});
