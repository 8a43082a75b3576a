import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

/**
 * Counts how often an operation selects fields at a path below the resolved field. Aliases count separately; fragments
 * are followed.
 *
 * @param path the field names that lead there, such as `edges` and `node`.
 * @returns the count of each field by name.
 */
export function countFields(
  { fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
  path: readonly string[],
  names: readonly string[],
): Map<string, number> {
  const places = new Map<string, string>();
  const seen = new Set<string>();
  const walk = ({ selections }: SelectionSetNode, depth: number, place: string): void => {
    for (const selection of selections) {
      switch (selection.kind) {
        case Kind.FIELD: {
          const { name, alias, selectionSet } = selection;
          const here = `${place}.${(alias ?? name).value}`;
          if (depth === path.length) {
            if (names.includes(name.value)) places.set(here, name.value);
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

  const counts = new Map<string, number>();
  for (const name of places.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
