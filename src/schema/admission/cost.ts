import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** More than any limit has. */
const MOST = 1e12;

/**
 * How many requests an operation counts as: 1 for each field that it asks for at the root, as written, in
 * fragments too and whatever `@skip` and `@include` say; all that asks about the schema counts as 1 together.
 *
 * @param document one that is valid, so that its fragments are there and do not spread themselves.
 */
export function costOf(document: DocumentNode, operationName?: string | null): number {
  const operation = getOperationAST(document, operationName);
  if (!operation) return 1;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
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
    return Math.min(sum, MOST);
  };
  // Each is looked at once: fragments may spread each other more often than could be walked.
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
