import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isObjectType,
  parse,
  print,
} from 'graphql';
import { schema } from '../../../src/schema/index.ts';
import { OWN_RUNS, PARTS } from './fields.ts';
import { type Ids, TABLE } from './table.ts';

/** One path through the schema, from a root field to all open fields of an object, or to one field. */
export type Path = {
  /** Such as `Query.bot Bot.runs Run.input`. */
  name: string;
  /** The document that selects only this path. */
  document: string;
  /** The closed field at the end of the path, if any. */
  closed?: string;
};

/** Whether a field may be read. */
export type MayRead = (field: string, way: { isOwnRun: boolean }) => boolean;

/** The maximum number of objects on a path, and the edges so far: the first path through an edge may be longer. */
type Limit = { depth: number; seen: Set<string> };

type Selection = (inner: string) => string;

/** The required arguments of fields below the root. */
const ARGUMENTS: Record<string, string> = {
  'Bot.session': '(id: "user-1")',
  'Bot.stats': '(from: "2020-01-01T00:00:00Z", to: "2020-01-02T00:00:00Z")',
};

/** Types without further paths: enumerations, scalars, and types that are read whole. */
const isLeaf = (type: GraphQLNamedType) => !isObjectType(type) || PARTS.includes(type.name);

/** All fields of a type that is read whole. */
function wholeOf(type: GraphQLNamedType): string {
  if (!isObjectType(type)) return '';
  const inner = Object.values(type.getFields()).map(
    ({ name, type: of }) => name + wholeOf(getNamedType(of)),
  );
  return ` { ${inner.join(' ')} }`;
}

/** The type that a field leads to, through the edges of a list, and its selection. Pages start at the oldest entry. */
function targetOf(field: GraphQLField<unknown, unknown>): {
  type: GraphQLNamedType;
  page: string;
  select: Selection;
} {
  const type = getNamedType(field.type);
  if (!isObjectType(type) || !type.name.endsWith('Connection')) {
    return { type, page: '', select: (inner) => ` { ${inner} }` };
  }
  const edge = getNamedType(type.getFields().edges?.type ?? type);
  const node = isObjectType(edge) ? edge.getFields().node : undefined;
  return {
    type: getNamedType(node?.type ?? type),
    page: '(last: 3)',
    select: (inner) => ` { edges { node { ${inner} } } }`,
  };
}

/** Every path below an object. No type repeats on a path, except a run: the first may be the operation's own. */
function* below(
  type: GraphQLObjectType,
  steps: string[],
  select: Selection,
  mayRead: MayRead,
  limit: Limit,
): Generator<Path> {
  const isOwnRun = type.name === 'Run' && OWN_RUNS.includes(steps.join(' '));
  const open: string[] = [];
  for (const field of Object.values(type.getFields())) {
    const name = `${type.name}.${field.name}`;
    const target = targetOf(field);
    const selected = field.name + (ARGUMENTS[name] ?? target.page);
    const leaf = isLeaf(target.type) ? selected + wholeOf(target.type) : undefined;
    if (!mayRead(name, { isOwnRun })) {
      const closed = leaf ?? selected + target.select('__typename');
      yield { name: [...steps, name].join(' '), document: select(closed), closed: name };
    } else if (leaf !== undefined) {
      open.push(leaf);
    } else if (isObjectType(target.type)) {
      const visits = steps.filter((step) => step.startsWith(`${target.type.name}.`)).length;
      if (visits > (target.type.name === 'Run' ? 1 : 0)) continue;
      if (steps.length >= limit.depth && limit.seen.has(name)) continue;
      limit.seen.add(name);
      const inner: Selection = (text) => select(selected + target.select(text));
      yield* below(target.type, [...steps, name], inner, mayRead, limit);
    }
  }
  if (open.length > 0) yield { name: `${steps.join(' ')} *`, document: select(open.join(' ')) };
}

/** The root field of the table as a document with another selection. */
function rootOf(name: string, rootField: string): Selection {
  const type = name.split('.', 1)[0]?.toLowerCase() ?? '';
  const [definition] = parse(`${type} { ${rootField} }`).definitions;
  if (definition?.kind !== 'OperationDefinition') throw new Error(`${name} is not an operation.`);
  const [field] = definition.selectionSet.selections;
  if (field?.kind !== 'Field') throw new Error(`${name} has no field.`);
  const bare = print({ ...field, selectionSet: undefined });
  return (inner) => `${type} { ${bare} { ${inner} } }`;
}

/**
 * Every path through the schema that begins at an allowed root field.
 *
 * @param nodes an id for each type that has nodes.
 * @param mayCall whether a root field is allowed; for `Query.node`, also by the type of the node.
 * @param depth the maximum number of objects on a path. One path at least leads through every edge.
 */
export function* pathsFrom(
  ids: Ids,
  nodes: Record<string, string>,
  mayCall: (root: string, node?: string) => boolean,
  mayRead: MayRead,
  depth: number,
): Generator<Path> {
  const limit = { depth, seen: new Set<string>() };
  for (const [root, { operation }] of Object.entries(TABLE)) {
    const [typeName = '', fieldName = ''] = root.split('.');
    const rootType = schema.getType(typeName);
    const field = isObjectType(rootType) ? rootType.getFields()[fieldName] : undefined;
    if (!field) throw new Error(`There is no ${root}.`);
    const { type, select } = targetOf(field);
    if (isInterfaceType(type)) {
      for (const node of schema.getPossibleTypes(type)) {
        if (!mayCall(root, node.name)) continue;
        const id = nodes[node.name];
        const selected = fieldName === 'nodes' ? `nodes(ids: ["${id}"])` : `node(id: "${id}")`;
        const inner: Selection = (text) =>
          rootOf(root, selected)(`... on ${node.name} { ${text} }`);
        yield* below(node, [`${root}`], inner, mayRead, limit);
      }
    } else if (mayCall(root) && isObjectType(type) && !isLeaf(type)) {
      const inner: Selection = (text) =>
        rootOf(root, operation(ids))(select(text).trim().slice(1, -1).trim());
      yield* below(type, [root], inner, mayRead, limit);
    }
  }
}
