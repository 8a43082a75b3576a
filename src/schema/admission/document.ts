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

/** A valid document, or its errors. */
export type ReadDocument =
  | { document: DocumentNode; errors?: undefined }
  | { document?: undefined; errors: readonly GraphQLError[] };

/** Maximum length in characters of a name: field, alias, operation, variable or type. */
export const MAX_NAME_LENGTH = 256;
/** Maximum validation errors reported for a document, besides the note that more exist. */
const MAX_ERRORS = 5;

/**
 * Limits above what real documents need, of which introspection by common tools is the deepest. The token limit protects
 * the parser's stack. The other limits bound validation, which compares fields pairwise.
 */
const LIMITS = {
  tokens: 2_000,
  depth: 20,
  valueDepth: 20,
  fields: 500,
  fieldsOfOneName: 50,
  aliases: 100,
  directives: 50,
  definitions: 50,
  variables: 100,
  /** Fields of an operation with all fragments expanded. */
  spreadFields: 5_000,
  /** Characters `#`, in comments or strings. The parser stores a token per comment but does not count it in `maxTokens`. */
  hashes: 20_000,
  /** Line breaks. The lines before an error are counted for each of its places. */
  lineBreaks: 20_000,
};

/** @throws GraphQLError for a syntax error, or a document beyond a limit. */
function parseDocument(source: string): DocumentNode {
  refuseMore('characters "#"', countOf('#', source), LIMITS.hashes);
  const lineBreaks = countOf('\n', source) + countOf('\r', source);
  refuseMore('line breaks', lineBreaks, LIMITS.lineBreaks);
  const document = parseShallow(source);
  assertModest(document);
  return document;
}

/** The parser recurses for each level of a value, so deep nesting overflows the stack with a RangeError. */
function parseShallow(source: string): DocumentNode {
  try {
    return parse(source, { maxTokens: LIMITS.tokens });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GraphQLError('The document is nested too deeply.');
  }
}

function countOf(character: string, source: string): number {
  let count = 0;
  for (let at = source.indexOf(character); at >= 0; at = source.indexOf(character, at + 1))
    count += 1;
  return count;
}

/** Parses and validates a document. @returns at most 6 errors if it is invalid. */
export function readDocument(schema: GraphQLSchema, source: string): ReadDocument {
  try {
    const document = parseDocument(source);
    const errors = validate(schema, document, undefined, { maxErrors: MAX_ERRORS });
    return errors.length > 0 ? { errors } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}

/** Checks the limits before any slow or deeply recursive code reads the document. @throws GraphQLError */
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
  const counts = {
    valueDepth: 0,
    fields: 0,
    fieldsOfOneName: 0,
    aliases: 0,
    directives: 0,
    variables: 0,
    nameLength: 0,
  };
  visit(document, {
    Name: ({ value: name }) => {
      counts.nameLength = Math.max(counts.nameLength, name.length);
    },
    VariableDefinition: () => {
      counts.variables += 1;
    },
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
  refuseMore('fields', found.fields, LIMITS.fields);
  refuseMore('fields of one name side by side', found.fieldsOfOneName, LIMITS.fieldsOfOneName);
  refuseMore('aliases', found.aliases, LIMITS.aliases);
  refuseMore('directives', found.directives, LIMITS.directives);
  refuseMore('variables', found.variables, LIMITS.variables);
  refuseMore('characters in a name', found.nameLength, MAX_NAME_LENGTH);
  refuseMore('operations and fragments', found.definitions, LIMITS.definitions);
  refuseMore('levels of values', found.valueDepth, LIMITS.valueDepth);
  refuseMore('levels of selections', found.depth, LIMITS.depth);
  refuseMore('fields with its fragments spread', spreadFieldsOf(document), LIMITS.spreadFields);
}

function refuseMore(what: string, count: number, most: number): void {
  if (count <= most) return;
  const has = Number.isFinite(count) ? `${count} ${what}` : `infinitely many ${what}`;
  throw new GraphQLError(`The document has ${has}; at most ${most} are allowed.`);
}

/**
 * Counts the fields of the largest operation with all fragments expanded, because code that walks a document can visit a
 * fragment once per spread. The fragments must have no cycles.
 */
function spreadFieldsOf(document: DocumentNode): number {
  const fragments = fragmentsOf(document);
  const known = new Map<string, number>();
  const ofSelections = (selections: readonly SelectionNode[] = []): number => {
    let sum = 0;
    for (const selection of selections) {
      sum +=
        selection.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(selection.name.value)
          : 1 + ofSelections(selection.selectionSet?.selections);
    }
    return sum;
  };
  const ofFragment = (name: string): number => {
    const sum = known.get(name) ?? 1 + ofSelections(fragments.get(name)?.selectionSet.selections);
    known.set(name, sum);
    return sum;
  };
  return document.definitions.reduce(
    (most, definition) =>
      'selectionSet' in definition
        ? Math.max(most, ofSelections(definition.selectionSet.selections))
        : most,
    0,
  );
}

/** The fragments of a document by name. */
export function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  return fragments;
}

/** Nesting depth of selections, through fragments. Infinite if a fragment spreads itself. */
function depthOf(document: DocumentNode): number {
  const fragments = fragmentsOf(document);
  /** Depth of each visited fragment. Infinite during its visit, which detects cycles. */
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

  return document.definitions.reduce(
    (deepest, definition) =>
      'selectionSet' in definition
        ? Math.max(deepest, ofSelections(definition.selectionSet.selections))
        : deepest,
    0,
  );
}
