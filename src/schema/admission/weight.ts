import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { GatewayError } from '../../errors.ts';
import { LIST_POINTS, POINTS } from './points.ts';

/** How many objects one operation may ask for. */
const MOST_OBJECTS = 10_000;
/** How many points of work one operation may take. */
const MOST_POINTS = 100;
/** How many fields an operation may ask about the schema: the usual question of tools is 31,000. */
const MOST_INTROSPECTED = 50_000;
/** How many entries a page has where the document does not say, and at most. */
const PAGE = 20;
const LARGEST_PAGE = 100;
const DAY_MS = 24 * 60 * 60 * 1_000;
const MOST_DAYS = 366;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** What an operation asks for. */
type Weight = {
  /** Objects that its pages can have at most, and days of statistics. */
  objects: number;
  /** Points of work. */
  points: number;
  /** Fields about the schema. */
  introspected: number;
};

/**
 * Refuses an operation that asks for more than anybody reads at once: pages within pages multiply.
 *
 * @param document one that is valid.
 * @param variables as the client sent them.
 * @throws GatewayError `invalid_request` that names what there is too much of, and the bound.
 */
export function assertReadable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): void {
  const { objects, points, introspected } = weigh(schema, document, operationName, variables);
  if (objects > MOST_OBJECTS) {
    throw new GatewayError(
      'invalid_request',
      `The operation asks for up to ${objects} objects; at most ${MOST_OBJECTS} are allowed. Ask for smaller pages.`,
    );
  }
  if (points > MOST_POINTS) {
    throw new GatewayError(
      'invalid_request',
      `The operation takes ${points} points of work; at most ${MOST_POINTS} are allowed. Each place in it takes ${LIST_POINTS} for a list, ${POINTS['Bot.stats']} for stats or checkDefinition, and 1 to 10 for other fields that read anew. Divide it.`,
    );
  }
  if (introspected > MOST_INTROSPECTED) {
    throw new GatewayError(
      'invalid_request',
      `The operation asks for ${introspected} fields of the schema; at most ${MOST_INTROSPECTED} are allowed.`,
    );
  }
}

/**
 * Weighs an operation as it is written, whatever `@skip` and `@include` say. A list without pages counts as one object, or
 * as the `entries` of its field's extensions.
 */
export function weigh(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): Weight {
  const operation = getOperationAST(document, operationName);
  if (!operation) return sum([]);
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

  /** The number that a value stands for, the length of a list, or a text. */
  const read = (value: ValueNode | undefined): number | string | undefined => {
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind === Kind.STRING) return value.value;
    if (value?.kind === Kind.LIST) return value.values.length;
    if (value?.kind !== Kind.VARIABLE) return undefined;
    const given = variables?.[value.name.value];
    if (Array.isArray(given)) return given.length;
    if (given === undefined) return read(defaults.get(value.name.value));
    return typeof given === 'number' || typeof given === 'string' ? given : undefined;
  };

  const entriesOf = (
    field: GraphQLField<unknown, unknown>,
    given: readonly ArgumentNode[] = [],
  ): number => {
    const argument = (name: string) => read(given.find((one) => one.name.value === name)?.value);
    const numberOf = (name: string) => {
      const value = argument(name);
      return typeof value === 'number' ? value : undefined;
    };
    const names = field.args.map(({ name }) => name);
    if (names.includes('ids')) return numberOf('ids') ?? 1;
    if (names.includes('from') && names.includes('to')) {
      return daysBetween(argument('from'), argument('to'));
    }
    if (!names.includes('first')) return Number(field.extensions.entries ?? 1);
    const entries = numberOf('first') ?? numberOf('last') ?? PAGE;
    return Math.min(Math.max(entries, 1), LARGEST_PAGE);
  };

  const ofField = (node: FieldNode, type: GraphQLNamedType | undefined): Weight => {
    const field = fieldOf(type, node.name.value);
    if (!field) return sum([]);
    const fieldType = getNamedType(field.type);
    const below = node.selectionSet ? within(node.selectionSet, fieldType) : undefined;
    if (isIntrospectionType(fieldType) || (type && isIntrospectionType(type))) {
      const entries = INTROSPECTED[node.name.value]?.(schema) ?? 1;
      return { ...sum([]), introspected: entries * (1 + (below?.introspected ?? 0)) };
    }
    const isList = field.args.some(({ name }) => name === 'first');
    const own = POINTS[`${type?.name}.${field.name}`] ?? (isList ? LIST_POINTS : 0);
    if (!below) return { ...sum([]), points: own };
    const entries = entriesOf(field, node.arguments);
    const isStats = field.name === 'stats';
    return {
      objects: isStats ? 1 + entries * below.objects : entries * (1 + below.objects),
      points: own + below.points,
      introspected: below.introspected,
    };
  };

  const within = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): Weight =>
    sum(selections.map((selection) => ofSelection(selection, type)));

  const ofSelection = (selection: SelectionNode, type: GraphQLNamedType | undefined): Weight => {
    switch (selection.kind) {
      case Kind.FIELD:
        return ofField(selection, type);
      case Kind.INLINE_FRAGMENT: {
        const { typeCondition, selectionSet } = selection;
        const ofType = typeCondition ? schema.getType(typeCondition.name.value) : type;
        return within(selectionSet, ofType);
      }
      case Kind.FRAGMENT_SPREAD:
        return ofFragment(selection.name.value);
    }
  };

  // Each is looked at once: fragments may spread each other more often than could be walked.
  const known = new Map<string, Weight>();
  const ofFragment = (name: string): Weight => {
    const fragment = fragments.get(name);
    const weight =
      known.get(name) ??
      (fragment
        ? within(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value))
        : sum([]));
    known.set(name, weight);
    return weight;
  };

  const root = schema.getRootType(operation.operation) ?? undefined;
  return within(operation.selectionSet, root);
}

function sum(weights: Weight[]): Weight {
  const whole = { objects: 0, points: 0, introspected: 0 };
  for (const { objects, points, introspected } of weights) {
    whole.objects += objects;
    whole.points += points;
    whole.introspected += introspected;
  }
  return whole;
}

/** The days that statistics have at most, from one moment on and before another. */
function daysBetween(from: number | string | undefined, to: number | string | undefined): number {
  const days = (Date.parse(String(to)) - Date.parse(String(from))) / DAY_MS;
  if (Number.isNaN(days)) return MOST_DAYS;
  return Math.min(Math.max(Math.ceil(days) + 1, 1), MOST_DAYS + 1);
}

/** How many entries the lists of introspection have, on average for those of types and fields. */
const INTROSPECTED: Record<string, (schema: GraphQLSchema) => number> = {
  types: (schema) => Object.keys(schema.getTypeMap()).length,
  directives: (schema) => schema.getDirectives().length,
  fields: () => 4,
};

function fieldOf(
  type: GraphQLNamedType | undefined,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}
