import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { GatewayError } from '../../errors/errors.ts';
import { fragmentsOf } from './document.ts';
import { EVENT_POINTS, PRICES } from './points.ts';
import { createScale, type Load, objectsOf, VALUE_BYTES } from './scale.ts';
import { MAX_READ_BYTES } from './sizes.ts';

const MIB = 1024 * 1024;
/** Maximum bytes of JSON that one operation, or one event of a subscription, may return. */
export const MAX_ANSWER_BYTES = 16 * MIB;
/** Maximum objects that one operation may request. */
export const MAX_OBJECTS = 10_000;
/** Maximum points that one operation may cost. */
const MAX_POINTS = 100;
/** Maximum introspection fields of one operation. The introspection query of common tools has 33,000. */
const MAX_INTROSPECTED = 100_000;

/** Maximum objects and points of one event of a subscription, which may resolve many events a second. */
const MAX_EVENT_OBJECTS = 1_000;
const MAX_EVENT_POINTS = 20;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** The load of a whole operation. Its bytes are all bytes of JSON: those that are measured count the read budget. */
export type Weight = Pick<Load, 'objects' | 'points' | 'introspected' | 'bytes'>;

/**
 * Rejects an operation that exceeds a limit on objects, points, bytes or introspection fields, and a subscription whose
 * events are too heavy. Nested pages multiply.
 *
 * @param document a valid document.
 * @param variables as the client sent them.
 * @throws GatewayError `request_too_large` for too many bytes, `invalid_request` for the rest, with the count and the limit.
 */
export function assertReadable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): void {
  const { objects, points, bytes, introspected } = weigh(
    schema,
    document,
    operationName,
    variables,
  );
  if (objects > MAX_OBJECTS) {
    throw tooHeavy(
      `The operation asks for up to ${objects} objects; at most ${MAX_OBJECTS} are allowed. Request smaller pages.`,
    );
  }
  if (points > MAX_POINTS) {
    throw tooHeavy(
      `The operation takes ${points} points of work; at most ${MAX_POINTS} are allowed. Each occurrence takes ${PRICES}. Split the operation.`,
    );
  }
  if (bytes > MAX_ANSWER_BYTES) {
    throw new GatewayError(
      'request_too_large',
      `The operation asks for up to ${bytes} bytes; at most ${MAX_ANSWER_BYTES} (${MAX_ANSWER_BYTES / MIB} MiB) are allowed, with ${MAX_READ_BYTES} for all long texts. Request smaller pages or fewer fields.`,
    );
  }
  if (introspected > MAX_INTROSPECTED) {
    throw tooHeavy(
      `The operation asks for ${introspected} fields of the schema; at most ${MAX_INTROSPECTED} are allowed.`,
    );
  }
  const event = weighEvent(schema, document, operationName, variables);
  if (event.objects > MAX_EVENT_OBJECTS) {
    throw tooHeavy(
      `Each event asks for up to ${event.objects} objects; at most ${MAX_EVENT_OBJECTS} are allowed. ${READ_BY_QUERY}`,
    );
  }
  if (event.points > MAX_EVENT_POINTS) {
    throw tooHeavy(
      `Each event takes ${event.points} points of work; at most ${MAX_EVENT_POINTS} are allowed. ${READ_BY_QUERY}`,
    );
  }
}

const READ_BY_QUERY = 'Select less, and read the rest by a query.';

function tooHeavy(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}

/** Weighs an operation before it runs. */
export function weigh(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): Weight {
  const operation = getOperationAST(document, operationName);
  if (!operation) return totalOf(NOTHING);
  const scale = scaleFor(schema, document, operation, variables);
  const root = schema.getRootType(operation.operation) ?? undefined;
  return totalOf(scale(operation.selectionSet, root));
}

/** Bytes of JSON, without texts, that an event may select without points: 50 values. The events of a run have about 20. */
const FREE_EVENT_BYTES = 50 * VALUE_BYTES;
/** Bytes of JSON that count one point in an event. */
export const POINT_BYTES = 64 * 1024;

/**
 * Weighs one event of a subscription; nothing for another operation. Its `cost` is its points, and a fraction of a point
 * for a selection of many values.
 */
export function weighEvent(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): Weight & { cost: number } {
  const operation = getOperationAST(document, operationName);
  const nothing = { ...totalOf(NOTHING), cost: 0 };
  if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return nothing;
  const fragments = fragmentsOf(document);
  const field = firstField(operation.selectionSet, fragments);
  const type = schema.getSubscriptionType()?.getFields()[field?.name.value ?? '']?.type;
  if (!field?.selectionSet || !type) return nothing;
  const scale = scaleFor(schema, document, operation, variables);
  const load = scale(field.selectionSet, getNamedType(type));
  const points = load.points + (EVENT_POINTS[field.name.value] ?? 0);
  const ofValues = load.bytes > FREE_EVENT_BYTES ? load.bytes / POINT_BYTES : 0;
  return { ...totalOf(load), points, cost: points + ofValues };
}

const NOTHING: Load = {
  ...{ objects: 0, points: 0, introspected: 0 },
  ...{ bytes: 0, texts: 0, isMeasured: false, values: 0 },
};

function totalOf(load: Load): Weight {
  const { points, introspected, bytes, texts, isMeasured } = load;
  const measured = isMeasured ? MAX_READ_BYTES : 0;
  return { objects: objectsOf(load), points, introspected, bytes: bytes + texts + measured };
}

function scaleFor(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Variables,
) {
  const defaults = new Map<string, ValueNode>();
  for (const { variable, defaultValue } of variableDefinitions) {
    if (defaultValue) defaults.set(variable.name.value, defaultValue);
  }
  return createScale({ schema, fragments: fragmentsOf(document), variables, defaults });
}

/** The root field of a subscription, which has one. */
function firstField(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): FieldNode | undefined {
  const [first] = selections;
  if (first?.kind === Kind.FIELD) return first;
  const below = first?.kind === Kind.FRAGMENT_SPREAD ? fragments.get(first.name.value) : first;
  return below && firstField(below.selectionSet, fragments);
}
