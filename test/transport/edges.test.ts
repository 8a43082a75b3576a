import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { schema } from '../../src/schema/index.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import {
  type QueryClient,
  queryClientOf,
  type CountStatements,
  dashboard,
  statementCounter,
} from '../helpers/statements.ts';

type Field = GraphQLField<unknown, unknown>;

/** What a field is asked with where it wants to be told, and when it is asked a second time. */
const ARGUMENTS: Record<string, [string, string]> = {
  'Query.bot.id': ['"Bot"', '"Bot"'],
  'Query.run.id': ['"Run"', '"Run"'],
  'Query.runs.botId': ['"Bot"', '"Bot"'],
  'Bot.session.id': ['"user-0"', '"user-none"'],
  'Bot.stats.from': ['"2026-03-01T00:00:00Z"', '"2026-03-02T00:00:00Z"'],
  'Bot.stats.to': ['"2026-03-06T00:00:00Z"', '"2026-03-05T00:00:00Z"'],
};
/** What can be anything, and what does not ask the database. */
const APART = ['Query.node', 'Query.nodes', 'Query.checkDefinition'];

/** The type of what a field answers, or of the entries of its list. */
const entryOf = (type: GraphQLOutputType): GraphQLObjectType | undefined => {
  const named = getNamedType(type);
  if (!isObjectType(named)) return undefined;
  return isConnection(named) ? entryOf(entryOfEdges(named)) : named;
};
const isConnection = (type: GraphQLObjectType) => type.name.endsWith('Connection');
const entryOfEdges = (type: GraphQLObjectType) => {
  const edge = getNamedType(type.getFields().edges?.type ?? type) as GraphQLObjectType;
  return edge.getFields().node?.type ?? edge;
};
const isList = ({ type }: Field) =>
  isListType(getNullableType(type)) || /Connection!?$/.test(String(type));

/** A field with what is asked below it; a list with more entries than there are. */
const ask = (of: GraphQLObjectType, field: Field, below: string, asked: 0 | 1 = 0): string => {
  const given = field.args.flatMap((argument) => {
    const name = `${of.name}.${field.name}.${argument.name}`;
    if (argument.name === 'first') return [`first: ${[5, 1][asked]}`];
    if (argument.name === 'environment' && asked) return ['environment: STAGING'];
    if (!isRequiredArgument(argument)) return [];
    const values = ARGUMENTS[name];
    if (!values) throw new Error(`Say in ARGUMENTS what ${name} is asked with.`);
    return [`${argument.name}: ${values[asked]}`];
  });
  const type = getNamedType(field.type);
  const selected = isObjectType(type) && isConnection(type) ? `edges { node { ${below} } }` : below;
  const args = given.length > 0 ? `(${given.join(', ')})` : '';
  return `${field.name}${args} { ${selected} }`;
};

/** The same field twice, with other arguments where it takes any. */
const askTwice = (of: GraphQLObjectType, field: Field, below: string): string =>
  `one: ${ask(of, field, below)} two: ${ask(of, field, below, 1)}`;

/** All of an object that is no object itself. */
const leavesOf = (type: GraphQLObjectType): string =>
  Object.values(type.getFields())
    .filter((field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument))
    .map(({ name }) => name)
    .join(' ') || '__typename';

const edgesOf = (type: GraphQLObjectType) =>
  Object.values(type.getFields()).flatMap((field) => {
    const entry = entryOf(field.type);
    const isApart = APART.includes(`${type.name}.${field.name}`);
    return entry && field.name !== 'pageInfo' && !isApart ? [{ field, entry }] : [];
  });

type WayTo = (below: string) => string;

/** Each type that is reached without a list, with a way to it. */
function places() {
  const query = schema.getQueryType();
  if (!query) throw new Error('The schema has no queries.');
  const found = new Map<GraphQLObjectType, WayTo>([[query, (below) => `{ ${below} }`]]);
  for (const [type, wayTo] of found) {
    for (const { field, entry } of edgesOf(type)) {
      if (isList(field) || found.has(entry)) continue;
      found.set(entry, (below) => wayTo(ask(type, field, below)));
    }
  }
  return [...found].map(([type, wayTo]) => ({ type, wayTo }));
}

/** Every list, by its name, with the type of its entries and a way to what is below them. */
function lists(): { name: string; entry: GraphQLObjectType; wayTo: WayTo }[] {
  const ofPlaces = places().flatMap(({ type, wayTo }) =>
    edgesOf(type)
      .filter(({ field }) => isList(field))
      .map(({ field, entry }) => ({
        name: `${type.name}.${field.name}`,
        entry,
        wayTo: (below: string) => wayTo(ask(type, field, below)),
      })),
  );
  const node = schema.getType('Node');
  const ofNodes = (isInterfaceType(node) ? schema.getPossibleTypes(node) : []).map((entry) => ({
    name: `Query.nodes of ${entry.name}`,
    entry,
    wayTo: (below: string) =>
      `{ nodes(ids: ["${entry.name}s"]) { ... on ${entry.name} { ${below} } } }`,
  }));
  return [...ofPlaces, ...ofNodes];
}

/** Every list, with every edge of its entries, and every edge of what that leads to. */
function walk(): [string, string][] {
  return lists().flatMap(({ name: list, entry, wayTo }) =>
    edgesOf(entry).flatMap(({ field: edge, entry: next }): [string, string][] => {
      const name = `${list} → ${edge.name}`;
      const query = (below: string) => wayTo(`${leavesOf(entry)} ${askTwice(entry, edge, below)}`);
      return [
        [name, query(leavesOf(next))],
        ...edgesOf(next).map(({ field, entry: last }): [string, string] => [
          `${name} → ${field.name}`,
          query(`${leavesOf(next)} ${askTwice(next, field, leavesOf(last))}`),
        ]),
      ];
    }),
  );
}

let app: TestApp;
let statements: CountStatements;
/** One who has one of everything, and one who has three. */
const askers: QueryClient[] = [];
beforeAll(async () => {
  app = await startApp();
  statements = statementCounter();
  for (const count of [1, 3]) {
    const accounts = [await dashboard(app, count, count)];
    while (accounts.length < count) accounts.push(await app.tenant());
    const [owner] = accounts;
    if (!owner) continue;
    const { ids } = await queryClientOf(app, owner.graphql, accounts);
    // One that is limited, so that it has bots too.
    const key = await owner.key({ scopes: Object.values(KeyScope), botIds: ids.Bot });
    askers.push({ graphql: (query) => app.graphql(key, query), ids });
  }
});

/** How many statements a query takes where there is one of everything, and where there are three. */
const counts = async (query: string) => {
  const found: number[] = [];
  for (const asker of askers) {
    const { ids } = asker;
    const text = Object.entries(ids).reduce(
      (text, [type, all]) =>
        text.replaceAll(`"${type}"`, `"${all[0]}"`).replaceAll(`["${type}s"]`, JSON.stringify(all)),
      query,
    );
    found.push(await statements(asker, text));
  }
  return found;
};

describe('the edges of a list', () => {
  test.each(walk())(
    '%s, take as many statements however many entries it has',
    async (_what, query) => {
      const [one, three] = await counts(query);
      expect(one, query).toBeGreaterThan(0);
      expect(three, query).toBe(one);
    },
  );
});
