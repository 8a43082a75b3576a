import {
  type ArgumentNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { GatewayError } from '../errors.ts';

/** How many objects one operation may ask for. */
const MOST_OBJECTS = 10_000;
/** How many entries a page has where the document does not say, and at most. */
const PAGE = 20;
const LARGEST_PAGE = 100;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/**
 * Refuses an operation that asks for more objects than anybody reads at once: pages within pages multiply.
 *
 * @param document one that is valid.
 * @param variables as the client sent them.
 * @throws GatewayError `invalid_request`
 */
export function assertReadable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): void {
  const objects = objectsOf(schema, document, operationName, variables);
  if (objects <= MOST_OBJECTS) return;
  throw new GatewayError(
    'invalid_request',
    `The operation asks for up to ${objects} objects; at most ${MOST_OBJECTS} are allowed. Ask for smaller pages.`,
  );
}

/**
 * How many objects an operation asks for at most, edges and pages counted as they are written. A list without pages counts
 * as one object, or as the `entries` of its field's extensions.
 */
export function objectsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): number {
  const operation = getOperationAST(document, operationName);
  if (!operation) return 0;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  const defaults = new Map<string, ValueNode>();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (defaultValue) defaults.set(variable.name.value, defaultValue);
  }

  /** The number that a value stands for, or the length of the list. */
  const numberOf = (value: ValueNode | undefined): number | undefined => {
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind === Kind.LIST) return value.values.length;
    if (value?.kind !== Kind.VARIABLE) return undefined;
    const given = variables?.[value.name.value];
    if (Array.isArray(given)) return given.length;
    if (given === undefined) return numberOf(defaults.get(value.name.value));
    return typeof given === 'number' ? given : undefined;
  };

  const entriesOf = (
    field: GraphQLField<unknown, unknown>,
    given: readonly ArgumentNode[] = [],
  ): number => {
    const value = (name: string) => numberOf(given.find((one) => one.name.value === name)?.value);
    const names = field.args.map(({ name }) => name);
    if (names.includes('ids')) return value('ids') ?? 1;
    if (!names.includes('first')) return Number(field.extensions.entries ?? 1);
    const entries = value('first') ?? value('last') ?? PAGE;
    return Math.min(Math.max(entries, 1), LARGEST_PAGE);
  };

  const within = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): number => {
    let sum = 0;
    for (const selection of selections) {
      switch (selection.kind) {
        case Kind.FIELD: {
          const { name, selectionSet } = selection;
          const field = fieldsOf(type)[name.value];
          if (!field || !selectionSet) break;
          const below = within(selectionSet, getNamedType(field.type));
          sum += entriesOf(field, selection.arguments) * (1 + below);
          break;
        }
        case Kind.INLINE_FRAGMENT: {
          const { typeCondition, selectionSet } = selection;
          sum += within(
            selectionSet,
            typeCondition ? schema.getType(typeCondition.name.value) : type,
          );
          break;
        }
        case Kind.FRAGMENT_SPREAD:
          sum += ofFragment(selection.name.value);
      }
    }
    return sum;
  };
  // Each is looked at once: fragments may spread each other more often than could be walked.
  const known = new Map<string, number>();
  const ofFragment = (name: string): number => {
    const fragment = fragments.get(name);
    const sum =
      known.get(name) ??
      (fragment
        ? within(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value))
        : 0);
    known.set(name, sum);
    return sum;
  };

  return within(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined);
}

function fieldsOf(
  type: GraphQLNamedType | undefined,
): Record<string, GraphQLField<unknown, unknown>> {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields() : {};
}
