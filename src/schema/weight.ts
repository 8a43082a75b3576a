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
import { GatewayError } from '../errors.ts';

/** What one operation may weigh. */
const MOST_WEIGHT = 10_000;
/** How many fields an operation may ask about the schema: the usual question of tools is 31,000. */
const MOST_INTROSPECTED = 50_000;
/** How many entries a page has where the document does not say, and at most. */
const PAGE = 20;
const LARGEST_PAGE = 100;
/** What a page weighs besides its entries. */
const LIST = 200;

/**
 * What a field weighs besides its objects, each time that a document asks for it: it reads or computes anew, once for all
 * parents together. What stands here makes an operation too heavy before it makes the server slow.
 */
export const PRICES: Readonly<Record<string, number>> = {
  'Account.apiKeys': 200,
  'ApiKey.bots': 100,
  'Bot.activeDeployment': 100,
  'Bot.runs': 300,
  'Bot.session': 100,
  'Bot.stats': 2_000,
  'ChatReply.run': 50,
  'DefinitionReport.formatted': 1_000,
  'Deployment.bot': 50,
  'Deployment.diagnostics': 50,
  'Deployment.rolledBackTo': 50,
  'Deployment.source': 50,
  'Message.run': 50,
  'Mutation.deploy': 500,
  'Mutation.promote': 500,
  'Mutation.rollback': 500,
  'Query.checkDefinition': 2_000,
  'Query.node': 100,
  'Query.nodes': 200,
  'Query.run': 50,
  'Query.runs': 300,
  'Run.bot': 50,
  'Run.deployment': 50,
  'Run.input': 50,
  'Run.metadata': 50,
  'Run.response': 50,
  'Run.trace': 50,
  'Session.memory': 100,
};

const DAY_MS = 24 * 60 * 60 * 1_000;
const MOST_DAYS = 366;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** What a selection weighs for each of its parents, what for all together, and how much it asks about the schema. */
type Weight = { each: number; once: number; introspected: number };

/**
 * Refuses an operation that asks for more than anybody reads at once: pages within pages multiply.
 *
 * @param document one that is valid.
 * @param variables as the client sent them.
 * @throws GatewayError `invalid_request` that names the weight and the bound.
 */
export function assertReadable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): void {
  const { weight, introspected } = weigh(schema, document, operationName, variables);
  if (weight > MOST_WEIGHT) {
    throw new GatewayError(
      'invalid_request',
      `The operation weighs ${weight}; at most ${MOST_WEIGHT} is allowed. Each object weighs 1, each list ${LIST} more, stats ${PRICES['Bot.stats']} more. Ask for smaller pages, or divide the operation.`,
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
 * Weighs an operation as it is written, whatever `@skip` and `@include` say: 1 for each object that its pages can have at
 * most and for each day of statistics, and the price of each field that reads anew.
 */
export function weigh(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): { weight: number; introspected: number } {
  const operation = getOperationAST(document, operationName);
  if (!operation) return { weight: 0, introspected: 0 };
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
    if (!field) return { each: 0, once: 0, introspected: 0 };
    const fieldType = getNamedType(field.type);
    const below = node.selectionSet ? within(node.selectionSet, fieldType) : undefined;
    if (isIntrospectionType(fieldType) || (type && isIntrospectionType(type))) {
      const entries = INTROSPECTED[node.name.value]?.(schema) ?? 1;
      return { each: 0, once: 0, introspected: entries * (1 + (below?.introspected ?? 0)) };
    }
    const price = PRICES[`${type?.name}.${field.name}`];
    const isList = field.args.some(({ name }) => name === 'first');
    const once = (price ?? (isList ? LIST : 0)) + (below?.once ?? 0);
    if (!below) return { each: 0, once, introspected: 0 };
    const entries = entriesOf(field, node.arguments);
    const each = field.name === 'stats' ? 1 + entries * below.each : entries * (1 + below.each);
    return { each, once, introspected: below.introspected };
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
  const { each, once, introspected } = within(operation.selectionSet, root);
  return { weight: each + once, introspected };
}

function sum(weights: Weight[]): Weight {
  const whole = { each: 0, once: 0, introspected: 0 };
  for (const { each, once, introspected } of weights) {
    whole.each += each;
    whole.once += once;
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
