import {
  type ArgumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { ENTRIES } from './entries.ts';
import { LIST_POINTS, POINTS } from './points.ts';
import { LENGTHS, MEASURED, SCALAR_LENGTHS } from './sizes.ts';

/**
 * Bytes that a value counts at least, because even the shortest one takes time: 93,206 values about 200 ms. A year of the
 * statistics that the console shows has 86,000 values.
 */
export const VALUE_BYTES = 180;
/** The longest name of a type, the value of `__typename`, as JSON. */
const TYPE_NAME = 40;
/** Entries of a page, by default and at most. */
const PAGE = 20;
const LARGEST_PAGE = 100;
const DAY_MS = 24 * 60 * 60 * 1_000;
const MAX_DAYS = 366;

/** What a selection may return, and what it takes. */
export type Load = {
  /**
   * Maximum objects on the pages of the operation, plus days of statistics, plus measured values beyond the first one of
   * each object.
   */
  objects: number;
  /** Estimated work: see `POINTS`. */
  points: number;
  /** Introspection fields. */
  introspected: number;
  /** Maximum bytes of JSON, without texts; each value with its name counts at least `VALUE_BYTES`. */
  bytes: number;
  /** Maximum bytes of texts: see `LENGTHS`. */
  texts: number;
  /** Whether the selection has fields that are measured when they are read: see `MEASURED`. */
  isMeasured: boolean;
  /** Measured values of each object that the selection is of. Each is resolved on its own, as an object is. */
  values: number;
};

type Options = {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The values of variables, as the client sent them or coerced. */
  variables: Readonly<Record<string, unknown>> | null | undefined;
  /** The default values of variables. */
  defaults?: ReadonlyMap<string, ValueNode>;
};

/**
 * Weighs selections of one operation as written, ignoring `@skip` and `@include`. Nested pages multiply.
 *
 * @returns a function that weighs a selection of a type.
 */
export function createScale({ schema, fragments, variables, defaults = new Map() }: Options) {
  /** Reads an argument: a number, a string, or the length of a list. */
  const read = (value: ValueNode | undefined): number | string | undefined => {
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind === Kind.STRING) return value.value;
    if (value?.kind === Kind.LIST) return value.values.length;
    if (value?.kind !== Kind.VARIABLE) return undefined;
    const given = variables?.[value.name.value];
    if (Array.isArray(given)) return given.length;
    if (given === undefined) return read(defaults.get(value.name.value));
    if (given instanceof Date) return given.toISOString();
    return typeof given === 'number' || typeof given === 'string' ? given : undefined;
  };

  const entriesOf = (
    field: GraphQLField<unknown, unknown>,
    name: string,
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
    // A list without `last` has no page by default: without `first` it is whole.
    if (!names.includes('last')) {
      const most = mostEntries(field, name);
      return Math.min(Math.max(numberOf('first') ?? most, 1), most);
    }
    const entries = numberOf('first') ?? numberOf('last') ?? PAGE;
    return Math.min(Math.max(entries, 1), LARGEST_PAGE);
  };

  const ofField = (node: FieldNode, type: GraphQLNamedType | undefined): Load => {
    const field = fieldOf(type, node.name.value);
    if (!field) return sum([]);
    const fieldType = getNamedType(field.type);
    const below = node.selectionSet ? within(node.selectionSet, fieldType) : undefined;
    if (isIntrospectionType(fieldType) || (type && isIntrospectionType(type))) {
      const entries = INTROSPECTED[node.name.value]?.(schema) ?? 1;
      return { ...sum([]), introspected: entries * (1 + (below?.introspected ?? 0)) };
    }
    const name = `${type?.name}.${field.name}`;
    const isList = field.args.some((argument) => argument.name === 'first');
    const points = POINTS[name] ?? (isList ? LIST_POINTS : 0);
    const entries = entriesOf(field, name, node.arguments);
    const isMeasured = MEASURED.has(name);
    // Quotes, a colon, a comma, and brackets.
    const key = (node.alias ?? node.name).value.length + 6;
    if (!below) {
      const own = isMeasured ? 0 : entries * (1 + lengthOf(fieldType));
      const texts = isMeasured ? 0 : entries * (LENGTHS[name] ?? 0);
      const bytes = Math.max(VALUE_BYTES, key + own);
      return { ...sum([]), points, bytes, texts, isMeasured, values: isMeasured ? 1 : 0 };
    }
    const isStats = field.name === 'stats';
    const objects = objectsOf(below);
    return {
      objects: isStats ? 1 + entries * objects : entries * (1 + objects),
      points: points + below.points,
      introspected: below.introspected,
      bytes: key + (isMeasured ? 0 : entries * (3 + below.bytes)),
      texts: isMeasured ? 0 : entries * below.texts,
      isMeasured: isMeasured || below.isMeasured,
      values: 0,
    };
  };

  const within = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): Load =>
    sum(selections.map((selection) => ofSelection(selection, type)));

  const ofSelection = (selection: SelectionNode, type: GraphQLNamedType | undefined): Load => {
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
  const known = new Map<string, Load>();
  const ofFragment = (name: string): Load => {
    const fragment = fragments.get(name);
    const load =
      known.get(name) ??
      (fragment
        ? within(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value))
        : sum([]));
    known.set(name, load);
    return load;
  };

  return within;
}

/** The objects below one object, plus its measured values that count as objects. */
export function objectsOf({ objects, values }: Load): number {
  return objects + Math.max(0, values - 1);
}

function sum(loads: Load[]): Load {
  const whole: Load = {
    objects: 0,
    points: 0,
    introspected: 0,
    bytes: 0,
    texts: 0,
    isMeasured: false,
    values: 0,
  };
  for (const load of loads) {
    whole.objects += load.objects;
    whole.points += load.points;
    whole.introspected += load.introspected;
    whole.bytes += load.bytes;
    whole.texts += load.texts;
    whole.isMeasured ||= load.isMeasured;
    whole.values += load.values;
  }
  return whole;
}

/** The most entries of a field without pages: 1 if it is no list. */
function mostEntries({ type }: GraphQLField<unknown, unknown>, name: string): number {
  if (!isListType(getNullableType(type))) return 1;
  const of = getNamedType(type);
  return ENTRIES[name] ?? (isEnumType(of) ? of.getValues().length : 1);
}

/** The longest JSON of a value of a type that is no text, in bytes. */
function lengthOf(type: GraphQLNamedType): number {
  if (!isEnumType(type)) return SCALAR_LENGTHS[type.name] ?? TYPE_NAME;
  return 2 + Math.max(...type.getValues().map(({ name }) => name.length));
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
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}
