import { type GraphQLObjectType, type GraphQLSchema, type OperationTypeNode, parse } from 'graphql';
import { costOf } from '../../../src/schema/admission/cost.ts';
import { readDocument } from '../../../src/schema/admission/document.ts';
import { assertShortLists } from '../../../src/schema/admission/variables.ts';
import { assertReadable } from '../../../src/schema/admission/weight.ts';
import { type Leaf, leavesOf, objectFieldsOf, pathsFrom, type Step, type Values } from './paths.ts';
import { type RepeatedField, renderDocument, type Shape } from './render.ts';

/** What a document has as much of as admission accepts. */
export const MEASURES = ['bytes', 'statements', 'objects'] as const;
export type Measure = (typeof MEASURES)[number];

export type HeavyDocument = {
  /** The operation, the type and the measure. */
  name: string;
  measure: Measure;
  query: string;
  variables: Values;
  /** The estimate that the search maximizes: bytes of the answer, lookups, or field values. */
  score: number;
};

/**
 * The longest values by `Type.field`: bytes of JSON of a leaf, entries of a list without pages. Other leaves count
 * `SHORT_BYTES`, other lists one entry.
 */
export type Lengths = Readonly<Record<string, number>>;

export const SHORT_BYTES = 24;

/** Requests a minute of the plan Free, and so the most root fields of one operation. */
const MAX_COST = 10;
/** The most that the search tries of one field, and of the lists on the way to it. */
const MAX_COPIES = 100;
/** Each list of a path takes the largest page up to one of these that admission accepts. */
const PAGES = [100, 1];
/** Copies of the last list of a path, before fields are repeated. */
const COPIES = [1, 10];
/** Leaves that the search repeats, the longest first. */
const REPEATED = 4;

/**
 * Builds, for each object type below a root type, the documents with the most bytes, the most statements and the most
 * objects that admission accepts from a key of the plan Free. The search is greedy: it adds pages, aliases of fields and
 * copies of lists while admission accepts the document.
 *
 * @param valuesFor arguments by `variableOf`, for documents whose root field returns the type. Fields whose required
 *   arguments have none are not used.
 * @param isReached types to leave out, for example those that another operation reaches in the same way.
 */
export function heaviestDocuments(
  schema: GraphQLSchema,
  operation: OperationTypeNode,
  { valuesFor, lengths }: { valuesFor(type: GraphQLObjectType): Values; lengths: Lengths },
  isReached: (type: GraphQLObjectType, path: readonly Step[]) => boolean = () => true,
): HeavyDocument[] {
  const root = schema.getRootType(operation);
  if (!root) return [];
  const documents = [...pathsFrom(schema, root, valuesFor(root))].flatMap(([type, paths]) =>
    paths.flatMap((path) => {
      if (!isReached(type, path)) return [];
      const values = valuesFor(path[1]?.parent ?? type);
      return MEASURES.flatMap((measure) => {
        const fields = fieldsFor(schema, type, measure, values, lengths);
        const best = heaviest(schema, operation, { type, path, fields, values });
        const name = `${operation} of ${type.name}, most ${measure}`;
        return best ? [{ name, measure, ...best }] : [];
      });
    }),
  );
  return [...new Map(documents.map((document) => [document.query, document])).values()];
}

type Field = Omit<RepeatedField, 'copies'>;
type Target = { type: GraphQLObjectType; path: Step[]; fields: Field[]; values: Values };

/** The fields that the search repeats for a measure, with what each adds. */
function fieldsFor(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  measure: Measure,
  values: Values,
  lengths: Lengths,
): Field[] {
  switch (measure) {
    case 'bytes':
      return leavesOf(schema, type, values)
        .map((leaf) => ({ leaf, value: bytesOf(leaf, lengths) }))
        .sort((one, other) => other.value - one.value)
        .slice(0, REPEATED);
    case 'statements':
      return objectFieldsOf(schema, type, values).map((leaf) => ({ leaf, value: 1 }));
    case 'objects':
      return [{ leaf: [], value: 1 }];
  }
}

function bytesOf(leaf: Leaf, lengths: Lengths): number {
  return leaf.reduce((bytes, { parent, field }, index) => {
    const known = lengths[`${parent.name}.${field.name}`];
    return bytes * (known ?? (index === leaf.length - 1 ? SHORT_BYTES : 1));
  }, 1);
}

/** @returns nothing if admission accepts not even the smallest document. */
function heaviest(
  schema: GraphQLSchema,
  operation: OperationTypeNode,
  { type, path, fields, values }: Target,
): Pick<HeavyDocument, 'query' | 'variables' | 'score'> | undefined {
  const admits = (shape: Shape) => admitsFree(schema, renderDocument(operation, shape, values));
  let best: { shape: Shape; score: number } | undefined;
  for (const page of PAGES) {
    for (const copies of COPIES) {
      let shape: Shape = { type, path, pages: path.map(() => 1), copies, fields: [] };
      const [first] = fields;
      if (!first || !admits({ ...shape, fields: [{ ...first, copies: 1 }] })) continue;
      shape = { ...shape, fields: [{ ...first, copies: 1 }] };
      shape = widen(shape, page, admits);
      shape = repeat(shape, fields, admits);
      const more = most(MAX_COPIES, (count) => admits({ ...shape, copies: count }));
      shape = { ...shape, copies: Math.max(more, copies) };
      const score = scoreOf(shape);
      if (score > (best?.score ?? 0)) best = { shape, score };
    }
  }
  return best && { ...renderDocument(operation, best.shape, values), score: best.score };
}

/** Makes each list of the path as long as admission accepts, from the outermost to the innermost. */
function widen(shape: Shape, page: number, admits: (shape: Shape) => boolean): Shape {
  let pages = shape.pages;
  for (const [index, { isPage }] of shape.path.entries()) {
    if (!isPage) continue;
    const withSize = (size: number) => pages.with(index, size);
    pages = withSize(
      Math.max(
        most(page, (size) => admits({ ...shape, pages: withSize(size) })),
        1,
      ),
    );
  }
  return { ...shape, pages };
}

/**
 * Adds copies of the fields: of equal ones as many of each as admission accepts together, then as many of each as still
 * fit, in their order.
 */
function repeat(shape: Shape, fields: Field[], admits: (shape: Shape) => boolean): Shape {
  const selected = (copies: readonly number[]): Shape => ({
    ...shape,
    fields: fields.flatMap((field, index) => {
      const count = copies[index] ?? 0;
      return count > 0 ? [{ ...field, copies: count }] : [];
    }),
  });
  let copies = fields.map((_, index): number => (index === 0 ? 1 : 0));
  if (fields.every(({ value }) => value === fields[0]?.value)) {
    for (const index of fields.keys()) {
      const withField = copies.with(index, 1);
      if (admits(selected(withField))) copies = withField;
    }
    const inRounds = (count: number) => copies.map((one) => one * count);
    copies = inRounds(
      Math.max(
        most(MAX_COPIES, (count) => admits(selected(inRounds(count)))),
        1,
      ),
    );
  }
  for (const [index, before] of copies.entries()) {
    const more = most(MAX_COPIES, (count) => admits(selected(copies.with(index, count))));
    copies = copies.with(index, Math.max(more, before));
  }
  return selected(copies);
}

/** The largest count up to a limit for which a condition holds, or 0. The condition must hold for all smaller counts. */
function most(limit: number, holds: (count: number) => boolean): number {
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function scoreOf({ pages, copies, fields }: Shape): number {
  const objects = pages.reduce((product, page) => product * page, copies);
  return objects * fields.reduce((sum, { value, copies: count }) => sum + value * count, 0);
}

/** Whether admission accepts a document, as `transport/graphql/admission.ts` decides it for a key of the plan Free. */
function admitsFree(
  schema: GraphQLSchema,
  { query, variables }: { query: string; variables: Values },
): boolean {
  const document = parse(query);
  if (costOf(document) > MAX_COST) return false;
  try {
    assertReadable(schema, document, undefined, variables);
    assertShortLists(schema, document, undefined, variables);
  } catch {
    return false;
  }
  // Last, because validation takes the longest.
  return !readDocument(schema, query).errors;
}
