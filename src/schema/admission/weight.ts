import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
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
import { fragmentsOf } from './document.ts';
import { LIST_POINTS, POINTS, PRICES } from './points.ts';

/** Maximum objects that one operation may request. */
const MAX_OBJECTS = 10_000;
/** Maximum points that one operation may cost. */
const MAX_POINTS = 100;
/** Maximum introspection fields of one operation. The introspection query of common tools has 31,000. */
const MAX_INTROSPECTED = 50_000;
/** Entries of a page, by default and at most. */
const PAGE = 20;
const LARGEST_PAGE = 100;
const DAY_MS = 24 * 60 * 60 * 1_000;
const MAX_DAYS = 366;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

type Weight = {
  /** Maximum objects on the pages of the operation, plus days of statistics. */
  objects: number;
  /** Estimated work: see `POINTS`. */
  points: number;
  /** Introspection fields. */
  introspected: number;
};

/**
 * Rejects an operation that exceeds a limit on objects, points or introspection fields. Nested pages multiply.
 *
 * @param document a valid document.
 * @param variables as the client sent them.
 * @throws GatewayError `invalid_request` with the count and the limit.
 */
export function assertReadable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): void {
  const { objects, points, introspected } = weigh(schema, document, operationName, variables);
  if (objects > MAX_OBJECTS) {
    throw new GatewayError(
      'invalid_request',
      `The operation asks for up to ${objects} objects; at most ${MAX_OBJECTS} are allowed. Request smaller pages.`,
    );
  }
  if (points > MAX_POINTS) {
    throw new GatewayError(
      'invalid_request',
      `The operation takes ${points} points of work; at most ${MAX_POINTS} are allowed. Each occurrence takes ${PRICES}. Split the operation.`,
    );
  }
  if (introspected > MAX_INTROSPECTED) {
    throw new GatewayError(
      'invalid_request',
      `The operation asks for ${introspected} fields of the schema; at most ${MAX_INTROSPECTED} are allowed.`,
    );
  }
}

/**
 * Weighs an operation as written, ignoring `@skip` and `@include`. An unpaginated list counts as one object, or as the
 * `entries` in its field's extensions.
 */
export function weigh(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): Weight {
  const operation = getOperationAST(document, operationName);
  if (!operation) return sum([]);
  const fragments = fragmentsOf(document);
  const defaults = new Map<string, ValueNode>();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (defaultValue) defaults.set(variable.name.value, defaultValue);
  }

  /** Reads an argument: a number, a string, or the length of a list. */
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

  // Each fragment is weighed once: nested spreads can grow exponentially.
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

/** Maximum UTC days that a period of statistics touches. */
function daysBetween(from: number | string | undefined, to: number | string | undefined): number {
  const days = (Date.parse(String(to)) - Date.parse(String(from))) / DAY_MS;
  if (Number.isNaN(days)) return MAX_DAYS;
  return Math.min(Math.max(Math.ceil(days) + 1, 1), MAX_DAYS + 1);
}

/** Entries of introspection lists. The number of fields is an average. */
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
