import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  type SelectionNode,
  validate,
  visit,
} from 'graphql';

/** A document that can be run, or all that is wrong with it. */
export type ReadDocument =
  | { document: DocumentNode; errors?: undefined }
  | { document?: undefined; errors: readonly GraphQLError[] };

/**
 * More than any sensible document has; introspection by the usual tools is the deepest of those. Fewer tokens
 * than it takes to exhaust the parser's stack, and few enough of the rest that validation, which compares fields
 * with each other, is soon done.
 */
const MOST = {
  tokens: 2_000,
  depth: 20,
  valueDepth: 20,
  fields: 500,
  fieldsOfOneName: 50,
  aliases: 100,
  directives: 50,
  definitions: 50,
};

/** Parses a document, and refuses one that is too much. @throws GraphQLError */
export function parseDocument(source: string): DocumentNode {
  const document = parseShallow(source);
  assertModest(document);
  return document;
}

/** The parser calls itself for each level of a value. */
function parseShallow(source: string): DocumentNode {
  try {
    return parse(source, { maxTokens: MOST.tokens });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GraphQLError('The document is nested too deeply.');
  }
}

/** Parses and validates a document, for the transports whose library does not do it the same way. */
export function readDocument(schema: GraphQLSchema, source: string): ReadDocument {
  try {
    const document = parseDocument(source);
    const errors = validate(schema, document);
    return errors.length > 0 ? { errors } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}

/** Refuses what is too much of a document before anything looks at it that takes long or recurs deeply. */
function assertModest(document: DocumentNode): void {
  const value = {
    enter: () => {
      valueDepth += 1;
      counts.valueDepth = Math.max(counts.valueDepth, valueDepth);
    },
    leave: () => {
      valueDepth -= 1;
    },
  };
  let valueDepth = 0;
  const counts = { valueDepth: 0, fields: 0, fieldsOfOneName: 0, aliases: 0, directives: 0 };
  visit(document, {
    ListValue: value,
    ObjectValue: value,
    Field: ({ alias }) => {
      counts.fields += 1;
      if (alias) counts.aliases += 1;
    },
    Directive: () => {
      counts.directives += 1;
    },
    SelectionSet: ({ selections }) => {
      const names = new Map<string, number>();
      for (const selection of selections) {
        if (selection.kind !== Kind.FIELD) continue;
        const name = (selection.alias ?? selection.name).value;
        names.set(name, (names.get(name) ?? 0) + 1);
      }
      counts.fieldsOfOneName = Math.max(counts.fieldsOfOneName, ...names.values());
    },
  });
  const found = { ...counts, definitions: document.definitions.length, depth: depthOf(document) };
  refuseMore('fields', found.fields, MOST.fields);
  refuseMore('fields of one name side by side', found.fieldsOfOneName, MOST.fieldsOfOneName);
  refuseMore('aliases', found.aliases, MOST.aliases);
  refuseMore('directives', found.directives, MOST.directives);
  refuseMore('operations and fragments', found.definitions, MOST.definitions);
  refuseMore('levels of values', found.valueDepth, MOST.valueDepth);
  refuseMore('levels of selections', found.depth, MOST.depth);
}

function refuseMore(what: string, count: number, most: number): void {
  if (count <= most) return;
  const has = Number.isFinite(count) ? `${count} ${what}` : `${what} without end`;
  throw new GraphQLError(`The document has ${has}; at most ${most} are allowed.`);
}

/** How deep selections stand in each other, through fragments too; without end where those spread themselves. */
function depthOf({ definitions }: DocumentNode): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  /** Each fragment is looked at once; while it is, it has no end. */
  const known = new Map<string, number>();
  const ofFragment = (name: string): number => {
    const before = known.get(name);
    if (before !== undefined) return before;
    known.set(name, Number.POSITIVE_INFINITY);
    const depth = ofSelections(fragments.get(name)?.selectionSet.selections);
    known.set(name, depth);
    return depth;
  };
  const ofSelections = (selections: readonly SelectionNode[] = []): number =>
    selections.reduce((deepest, selection) => {
      const below =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(selection.name.value)
          : ofSelections(selection.selectionSet?.selections);
      return Math.max(deepest, below + 1);
    }, 0);

  return definitions.reduce(
    (deepest, definition) =>
      'selectionSet' in definition
        ? Math.max(deepest, ofSelections(definition.selectionSet.selections))
        : deepest,
    0,
  );
}
