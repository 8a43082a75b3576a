import {
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  type OperationTypeNode,
} from 'graphql';
import { type Leaf, type Step, type Values, variableOf } from './paths.ts';

/** A field of the type, or of objects below it, with its number of aliases. Without steps, it is `__typename`. */
export type RepeatedField = { leaf: Leaf; copies: number; value: number };

/** A document: a path of fields to a type, and fields of that type. */
export type Shape = {
  /** The type at the end of the path. */
  type: GraphQLObjectType;
  path: readonly Step[];
  /** The size of the page of each step; ignored for steps without pages. */
  pages: readonly number[];
  /** How often the document contains the last list of the path, or the last field without lists. */
  copies: number;
  fields: readonly RepeatedField[];
};

/** Writes a document. The type's fields are a fragment, so that each copy of the path has all of them. */
export function renderDocument(
  operation: OperationTypeNode,
  { type, path, pages, copies, fields }: Shape,
  values: Values,
): { query: string; variables: Values } {
  const used = new Map<string, string>();
  const argumentsOf = ({ parent, field, given, isPage }: Step, page: number) => {
    const written = given.map(({ name, type }) => {
      const variable = variableOf(parent, field.name, name);
      used.set(variable, String(type));
      return `${name}: $${variable}`;
    });
    if (isPage) written.push(`first: ${page}`);
    return written.length > 0 ? `(${written.join(', ')})` : '';
  };
  /** The steps as nested selections, with a type condition after a field that returns an interface or a union. */
  const nested = (steps: readonly Step[], sizes: readonly number[], inner: string): string => {
    const [step, ...rest] = steps;
    if (!step) return inner;
    const below = nested(rest, sizes.slice(1), inner);
    const selection = below && ` { ${rest[0] ? on(rest[0], step, below) : below} }`;
    return `${step.field.name}${argumentsOf(step, sizes[0] ?? 1)}${selection}`;
  };
  const on = ({ parent }: Step, before: Step, selection: string) =>
    isAbstractType(getNamedType(before.field.type))
      ? `... on ${parent.name} { ${selection} }`
      : selection;

  const body = fields.flatMap(({ leaf, copies: count }, field) =>
    Array.from({ length: count }, (_, copy) => {
      const own =
        leaf.length > 0
          ? nested(
              leaf,
              leaf.map(() => 1),
              '',
            )
          : '__typename';
      return copy === 0 && field === 0 ? own : `f${field}_${copy}: ${own}`;
    }),
  );
  const last = path.findLastIndex(({ isPage }) => isPage);
  const at = last < 0 ? path.length - 1 : last;
  const inner = nested(path.slice(at), pages.slice(at), '...Target');
  const repeated = Array.from({ length: copies }, (_, copy) =>
    copy === 0 ? inner : `c${copy}: ${inner}`,
  ).join(' ');
  const before = path.slice(0, at);
  const [here, previous] = [path[at], path[at - 1]];
  const repeatedOn = here && previous ? on(here, previous, repeated) : repeated;
  const selection = nested(before, pages, repeatedOn);
  const variables = [...used].map(([name, type]) => `$${name}: ${type}`).join(', ');
  const query = `${operation} ${variables && `(${variables})`} { ${selection} }\nfragment Target on ${type.name} { ${body.join(' ')} }`;
  return {
    query,
    variables: Object.fromEntries([...used.keys()].map((name) => [name, values[name]])),
  };
}
