import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../src/schema/index.ts';
import { startApp, type TestApp } from './helpers/app.ts';
import { codesIn, type Row, securityRows } from './helpers/borders.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const rows = securityRows();
const named = (column: string, { cells }: Row) => codesIn(cells[column]);
const waysIn = rows.flatMap((row) => named('way in', row));
const argumentsIn = rows.flatMap((row) => named('argument', row));

test('every row of a table names tests and files that exist', () => {
  const files = rows.flatMap(({ cells: { test = '', 'enforced in': sources } }) => [
    ...test.split(', ').map((file) => `test/${file}.test.ts`),
    ...(sources?.split(', ').map((file) => `src/${file}`) ?? []),
  ]);
  expect(files.length).toBeGreaterThan(300);
  const missing = files.filter((file) => file !== 'src/Node.js' && !existsSync(join(ROOT, file)));
  expect(missing).toEqual([]);
});

test('every row has a bound in each of its columns', () => {
  const empty = rows.filter(({ cells }) => Object.values(cells).some((cell) => cell === ''));
  expect(empty).toEqual([]);
});

describe('the routes of the server', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ metrics: { token: 't'.repeat(32), server: true } });
  });

  test('all have a row, and every row is of a route', () => {
    const written = waysIn.filter((way) => /^[A-Z]+ \//.test(way)).sort();
    expect(written).toEqual(app.routes().sort());
  });
});

describe('the schema', () => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];

  test('has a row for each root field, and every row is of a root field', () => {
    const fields = roots.flatMap((root) =>
      Object.keys(root?.getFields() ?? {}).map((name) => `${root?.name}.${name}`),
    );
    const written = waysIn.filter((way) => /^(Query|Mutation|Subscription)\./.test(way));
    expect(written.sort()).toEqual(fields.sort());
  });

  /** The arguments that hold texts, JSON or lists, as `Type.field(argument)` or `Input.field`. */
  const texts = Object.values(schema.getTypeMap()).flatMap((type) => {
    if (type.name.startsWith('__')) return [];
    if (isInputObjectType(type)) {
      return Object.values(type.getFields()).flatMap((field) =>
        isText(field.type) ? [{ name: field.name, place: `${type.name}.${field.name}` }] : [],
      );
    }
    if (!isObjectType(type)) return [];
    return Object.values(type.getFields()).flatMap((field) =>
      field.args.flatMap(({ name, type: given }) =>
        isText(given) ? [{ name, place: `${type.name}.${field.name}(${name})` }] : [],
      ),
    );
  });

  test('has a row for each argument that holds a text, JSON or a list', () => {
    const missing = texts.filter(
      ({ name, place }) => !argumentsIn.includes(name) && !argumentsIn.includes(place),
    );
    expect(missing.map(({ place }) => place)).toEqual([]);
  });

  test('has each argument that has a row', () => {
    const known = texts.flatMap(({ name, place }) => [name, place]);
    expect(argumentsIn.filter((name) => !known.includes(name))).toEqual([]);
  });
});

function isText(type: GraphQLInputType): boolean {
  const { name } = getNamedType(type);
  return ['String', 'ID', 'JSON'].includes(name) || isListType(getNullableType(type));
}
