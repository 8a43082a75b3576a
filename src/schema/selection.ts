import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  getNamedType,
  isLeafType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { createScale, type Load, VALUE_BYTES } from './admission/scale.ts';
import { MAX_READ_BYTES } from './admission/sizes.ts';
import { MAX_OBJECTS } from './admission/weight.ts';
import type { Context } from './context.ts';
import type { TreeDemand } from './read-budget.ts';

/** So that the read budget bounds the objects of an operation as its weight does. */
const OBJECT_BYTES = MAX_READ_BYTES / MAX_OBJECTS;

type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'schema' | 'variableValues'>;

/**
 * Finds the fields with some names that an operation selects at a path below the resolved field. Aliases are separate
 * places; fragments are followed.
 *
 * @param path the field names that lead there, such as `edges` and `node`.
 * @returns the nodes of each place in the response.
 */
export function fieldsAt(
  { fieldNodes, fragments }: Info,
  path: readonly string[],
  names: readonly string[],
): FieldNode[][] {
  const places = new Map<string, FieldNode[]>();
  const seen = new Set<string>();
  const walk = ({ selections }: SelectionSetNode, depth: number, place: string): void => {
    for (const selection of selections) {
      switch (selection.kind) {
        case Kind.FIELD: {
          const { name, alias, selectionSet } = selection;
          const here = `${place}.${(alias ?? name).value}`;
          if (depth === path.length) {
            if (names.includes(name.value))
              places.set(here, [...(places.get(here) ?? []), selection]);
          } else if (name.value === path[depth] && selectionSet) {
            walk(selectionSet, depth + 1, here);
          }
          break;
        }
        case Kind.INLINE_FRAGMENT:
          walk(selection.selectionSet, depth, place);
          break;
        case Kind.FRAGMENT_SPREAD: {
          const spread = `${place}...${selection.name.value}`;
          const fragment = fragments[selection.name.value];
          if (!fragment || seen.has(spread)) break;
          seen.add(spread);
          walk(fragment.selectionSet, depth, place);
        }
      }
    }
  };
  for (const { selectionSet } of fieldNodes) if (selectionSet) walk(selectionSet, 0, '');
  return [...places.values()];
}

/** Weighs what an operation selects below one object of a type. @param nodes the nodes of one place in the response. */
function loadBelow(info: Info, nodes: readonly FieldNode[], type: GraphQLNamedType): Load[] {
  const fragments = new Map(Object.entries(info.fragments));
  const scale = createScale({ schema: info.schema, fragments, variables: info.variableValues });
  return nodes.flatMap(({ selectionSet }) => (selectionSet ? scale(selectionSet, type) : []));
}

/** The demand for a stored text, or for a stored list of objects. @param nodes the nodes of one place in the response. */
export function demandFor(
  info: Info,
  nodes: readonly FieldNode[],
  type: GraphQLNamedType,
): TreeDemand {
  if (isLeafType(type)) return { copies: 1, entryBytes: 0, objectBytes: 0 };
  const loads = loadBelow(info, nodes, type);
  const objects = leavesBelow(info, nodes);
  return {
    copies: mostRepeated(objects),
    entryBytes: loads.reduce((sum, { bytes }) => sum + bytes, 0),
    objectBytes: largestObject(objects),
  };
}

/** The demand of the resolved field itself. It is weighed once for all rows at a place in the response. */
export function demandIn(
  info: Info & Pick<GraphQLResolveInfo, 'returnType'>,
  { readBudget }: Pick<Context, 'readBudget'>,
): TreeDemand {
  const { fieldNodes, returnType } = info;
  const { demands } = readBudget();
  const demand = demands.get(fieldNodes) ?? demandFor(info, fieldNodes, getNamedType(returnType));
  demands.set(fieldNodes, demand);
  return demand;
}

/**
 * Spends the read budget on the entries of the resolved list, before they are read or shown: the most bytes of JSON that
 * is selected of them. An object counts at least its share of the budget.
 *
 * @throws GatewayError `invalid_request` if fewer bytes are left.
 */
export function spendEntries(
  info: Info & Pick<GraphQLResolveInfo, 'returnType'>,
  count: number,
  { readBudget }: Pick<Context, 'readBudget'>,
): void {
  const loads = loadBelow(info, info.fieldNodes, getNamedType(info.returnType));
  const entry = loads.reduce(
    (sum, { objects, bytes, texts }) => sum + Math.max(bytes + texts, (1 + objects) * OBJECT_BYTES),
    0,
  );
  readBudget().spend(count * entry, count);
}

/** The leaves that are selected below some nodes, by the names on the path to their object. Aliases count separately. */
function leavesBelow(
  { fragments }: Info,
  nodes: readonly FieldNode[],
): Map<string, Map<string, FieldNode[]>> {
  const objects = new Map<string, Map<string, FieldNode[]>>();
  const walk = ({ selections }: SelectionSetNode, path: string): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments[selection.name.value];
        if (fragment) walk(fragment.selectionSet, path);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, path);
      } else if (selection.selectionSet) {
        walk(selection.selectionSet, `${path}.${selection.name.value}`);
      } else {
        const leaves = objects.get(path) ?? new Map<string, FieldNode[]>();
        const name = selection.name.value;
        objects.set(path, leaves.set(name, [...(leaves.get(name) ?? []), selection]));
      }
    }
  };
  for (const { selectionSet } of nodes) if (selectionSet) walk(selectionSet, '');
  return objects;
}

/** How often the leaf that is selected most often is selected: each leaf of a path shows other data of a row. */
function mostRepeated(objects: ReturnType<typeof leavesBelow>): number {
  const counts = [...objects.values()].flatMap((leaves) =>
    [...leaves.values()].map(({ length }) => length),
  );
  return Math.max(1, ...counts);
}

/** The most bytes of an object at a path, without its texts. */
function largestObject(objects: ReturnType<typeof leavesBelow>): number {
  const bytes = [...objects.values()].map((leaves) =>
    [...leaves.values()]
      .flat()
      .reduce((sum, { alias, name }) => sum + VALUE_BYTES + (alias ?? name).value.length, 0),
  );
  return Math.max(0, ...bytes);
}
