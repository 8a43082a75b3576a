import { type DocumentNode, getOperationAST, Kind, type SelectionSetNode } from 'graphql';
import { fragmentsOf } from './document.ts';

/** Caps the count, so that nested fragments cannot overflow it. Exceeds every limit. */
const MAX_COST = 1e12;

/**
 * Counts the requests that an operation is charged for: 1 for each root field, including fields in fragments and fields
 * with `@skip` or `@include`. All introspection fields together count as 1.
 *
 * @param document a valid document: its fragments exist and have no cycles.
 */
export function costOf(document: DocumentNode, operationName?: string | null): number {
  const operation = getOperationAST(document, operationName);
  if (!operation) return 1;
  const fragments = fragmentsOf(document);
  let introspects = false;
  const fieldsIn = ({ selections }: SelectionSetNode): number => {
    let sum = 0;
    for (const selection of selections) {
      switch (selection.kind) {
        case Kind.FIELD:
          if (selection.name.value.startsWith('__')) introspects = true;
          else sum += 1;
          break;
        case Kind.INLINE_FRAGMENT:
          sum += fieldsIn(selection.selectionSet);
          break;
        case Kind.FRAGMENT_SPREAD:
          sum += fieldsOf(selection.name.value);
      }
    }
    return Math.min(sum, MAX_COST);
  };
  // Each fragment is counted once: nested spreads can grow exponentially.
  const known = new Map<string, number>();
  const fieldsOf = (name: string): number => {
    const fragment = fragments.get(name);
    const sum = known.get(name) ?? (fragment ? fieldsIn(fragment.selectionSet) : 0);
    known.set(name, sum);
    return sum;
  };

  const fields = fieldsIn(operation.selectionSet);
  return introspects ? fields + 1 : fields;
}
