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
import { rounds } from '../helpers/rounds.ts';
import {
  type CountStatements,
  dashboard,
  type QueryClient,
  queryClientOf,
  statementCounter,
} from '../helpers/statements.ts';

type Field = GraphQLField<unknown, unknown>;

/** The values of required arguments, for the first and the second use of a field. */
const ARGUMENTS: Record<string, [string, string]> = {
  'Query.bot.id': ['"Bot"', '"Bot"'],
  'Query.approval.id': ['"Approval"', '"Approval"'],
  'Query.evaluation.id': ['"Evaluation"', '"Evaluation"'],
  'Query.run.id': ['"Run"', '"Run"'],
  'Query.followedRun.id': ['"Run"', '"Run"'],
  'Query.deployedBot.botId': ['"Bot"', '"Bot"'],
  'Query.runs.botId': ['"Bot"', '"Bot"'],
  'Query.checkDeploy.botId': ['"Bot"', '"Bot"'],
  'Query.checkDeploy.input': ['{ source: "" }', '{ source: "#" }'],
  'Bot.session.id': ['"user-0"', '"user-none"'],
  'Bot.stats.from': ['"2026-03-01T00:00:00Z"', '"2026-03-02T00:00:00Z"'],
  'Bot.stats.to': ['"2026-03-06T00:00:00Z"', '"2026-03-05T00:00:00Z"'],
};
/** Fields that return any type, fields that need no database, and a field that lists refuse. */
const EXCLUDED = ['Query.node', 'Query.nodes', 'Query.checkDefinition', 'Run.prompt'];

/** The object type that a field returns, or that its list contains. */
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

/** A field with a selection, and a page that is larger than its list. */
const fieldOf = (of: GraphQLObjectType, field: Field, below: string, use: 0 | 1 = 0): string => {
  const given = field.args.flatMap((argument) => {
    const name = `${of.name}.${field.name}.${argument.name}`;
    if (argument.name === 'first') return [`first: ${[4, 1][use]}`];
    if (argument.name === 'environment' && use) return ['environment: STAGING'];
    if (!isRequiredArgument(argument) && !(name in ARGUMENTS)) return [];
    const values = ARGUMENTS[name];
    if (!values) throw new Error(`ARGUMENTS lacks values for ${name}.`);
    return [`${argument.name}: ${values[use]}`];
  });
  const type = getNamedType(field.type);
  const selected = isObjectType(type) && isConnection(type) ? `edges { node { ${below} } }` : below;
  const args = given.length > 0 ? `(${given.join(', ')})` : '';
  return `${field.name}${args} { ${selected} }`;
};

/** The same field twice, with different arguments where it has any. */
const fieldTwice = (of: GraphQLObjectType, field: Field, below: string): string =>
  `one: ${fieldOf(of, field, below)} two: ${fieldOf(of, field, below, 1)}`;

/** All scalar fields of an object. @param lists whether with lists of scalars, which take many bytes of an answer. */
const leavesOf = (type: GraphQLObjectType, { lists = true } = {}): string =>
  Object.values(type.getFields())
    .filter((field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument))
    .filter(({ type: of }) => lists || !isListType(getNullableType(of)))
    .map(({ name }) => name)
    .join(' ') || '__typename';

const edgesOf = (type: GraphQLObjectType) =>
  Object.values(type.getFields()).flatMap((field) => {
    const entry = entryOf(field.type);
    const isExcluded = EXCLUDED.includes(`${type.name}.${field.name}`);
    return entry && field.name !== 'pageInfo' && !isExcluded ? [{ field, entry }] : [];
  });

const isLong = rounds(0, 1) > 0;

type WayTo = (below: string) => string;

/** Each type that is reached without a list, with a path to it. */
function places() {
  const query = schema.getQueryType();
  if (!query) throw new Error('The schema has no queries.');
  const found = new Map<GraphQLObjectType, WayTo>([[query, (below) => `{ ${below} }`]]);
  for (const [type, wayTo] of found) {
    for (const { field, entry } of edgesOf(type)) {
      if (isList(field) || found.has(entry)) continue;
      found.set(entry, (below) => wayTo(fieldOf(type, field, below)));
    }
  }
  return [...found].map(([type, wayTo]) => ({ type, wayTo }));
}

/** Every list with its name, the type of its entries, and a path to its entries. */
function lists(): { name: string; entry: GraphQLObjectType; wayTo: WayTo }[] {
  const ofPlaces = places().flatMap(({ type, wayTo }) =>
    edgesOf(type)
      .filter(({ field }) => isList(field))
      .map(({ field, entry }) => ({
        name: `${type.name}.${field.name}`,
        entry,
        wayTo: (below: string) => wayTo(fieldOf(type, field, below)),
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

/**
 * Every list with every edge of its entries. The edges below an edge follow in the first list of its type, and in a long
 * run in all lists.
 */
function walk(): [string, string][] {
  const followed = new Set<string>();
  return lists().flatMap(({ name: list, entry, wayTo }) =>
    edgesOf(entry).flatMap(({ field: edge, entry: next }): [string, string][] => {
      const name = `${list} → ${edge.name}`;
      const follows = isLong || !followed.has(`${entry.name}.${edge.name}`);
      followed.add(`${entry.name}.${edge.name}`);
      return [
        [
          name,
          wayTo(`${leavesOf(entry, { lists: false })} ${fieldTwice(entry, edge, leavesOf(next))}`),
        ],
        ...(follows ? edgesOf(next) : []).map(({ field, entry: last }): [string, string] => [
          `${name} → ${field.name}`,
          wayTo(
            fieldOf(
              entry,
              edge,
              `${leavesOf(next, { lists: false })} ${fieldTwice(next, field, leavesOf(last, { lists: false }))}`,
            ),
          ),
        ]),
      ];
    }),
  );
}

let app: TestApp;
let statements: CountStatements;
/** A client with one record of each type, and one with three. */
const clients: QueryClient[] = [];
beforeAll(async () => {
  app = await startApp();
  statements = statementCounter();
  for (const count of [1, 3]) {
    const accounts = [await dashboard(app, count, count)];
    while (accounts.length < count) accounts.push(await app.tenant());
    const [owner] = accounts;
    if (!owner) continue;
    const { ids } = await queryClientOf(app, owner.graphql, accounts);
    // A restricted key, so that its `bots` field has entries too.
    const key = await owner.key({ scopes: Object.values(KeyScope), botIds: ids.Bot });
    clients.push({ graphql: (query) => app.graphql(key, query), ids });
  }
});

/** The number of statements for a query by each client. */
const counts = async (query: string) => {
  const found: number[] = [];
  for (const client of clients) {
    const { ids } = client;
    const text = Object.entries(ids).reduce(
      (text, [type, all]) =>
        text.replaceAll(`"${type}"`, `"${all[0]}"`).replaceAll(`["${type}s"]`, JSON.stringify(all)),
      query,
    );
    found.push(await statements(client, text));
  }
  return found;
};

describe('the edges of a list', () => {
  test.each(walk())(
    '%s, take the same number of statements for any number of entries',
    async (_what, query) => {
      const [one, three] = await counts(query);
      expect(one, query).toBeGreaterThan(0);
      expect(three, query).toBe(one);
    },
  );
});
