import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

/** A field on the way from a root type to another type, or from a type to one of its leaves. */
export type Step = {
  field: GraphQLField<unknown, unknown>;
  /** The object type that has the field. */
  parent: GraphQLObjectType;
  /** The arguments that the document sets by variables: the required ones, and others with a given value. */
  given: readonly GraphQLArgument[];
  /** Whether the field is a paginated list. */
  isPage: boolean;
  /** Whether the field returns several objects. */
  isList: boolean;
};

/** A field without a subselection, below others. */
export type Leaf = readonly Step[];

/** Values of arguments by the name that `variableOf` gives them. A field whose required arguments lack one is not used. */
export type Values = Readonly<Record<string, unknown>>;

/** Levels of a path, and of the leaves of a type. */
const MAX_STEPS = 10;
const MAX_LEAF_STEPS = 3;

/** The variable of an argument, such as `Query_bot_id`. */
export const variableOf = ({ name }: GraphQLObjectType, field: string, argument: string) =>
  `${name}_${field}_${argument}`;

/**
 * Finds paths to every object type that fields below a root type return.
 *
 * @returns for each type the shortest path, and the one of those without a repeated type that passes through most lists.
 */
export function pathsFrom(
  schema: GraphQLSchema,
  root: GraphQLObjectType,
  values: Values,
): Map<GraphQLObjectType, Step[][]> {
  const shortest = new Map<GraphQLObjectType, Step[]>();
  const widest = new Map<GraphQLObjectType, Step[]>();
  const widthOf = (path: Step[]) => path.filter(({ isList }) => isList).length;
  const walk = (type: GraphQLObjectType, path: Step[]) => {
    if (path.length === MAX_STEPS) return;
    for (const step of stepsOf(type, values)) {
      for (const next of objectsOf(schema, step.field.type)) {
        if (next === root || path.some(({ parent }) => parent === next)) continue;
        const here = [...path, step];
        const known = shortest.get(next);
        const isShorter =
          !known ||
          here.length < known.length ||
          (here.length === known.length && widthOf(here) > widthOf(known));
        if (isShorter) shortest.set(next, here);
        const wide = widest.get(next);
        const isWider = !wide || widthOf(here) > widthOf(wide);
        if (isWider) widest.set(next, here);
        if (isWider || isShorter) walk(next, here);
      }
    }
  };
  walk(root, []);
  return new Map(
    [...shortest].map(([type, path]) => {
      const wide = widest.get(type) ?? path;
      return [type, widthOf(wide) > widthOf(path) ? [path, wide] : [path]];
    }),
  );
}

/** The leaves of a type, and the leaves of the objects that it has without pages. */
export function leavesOf(schema: GraphQLSchema, type: GraphQLObjectType, values: Values): Leaf[] {
  const below = (parent: GraphQLObjectType, path: Step[]): Leaf[] =>
    stepsOf(parent, values).flatMap((step) => {
      const here = [...path, step];
      if (isLeafType(getNamedType(step.field.type))) return [here];
      if (step.isPage || here.length === MAX_LEAF_STEPS) return [];
      return objectsOf(schema, step.field.type).flatMap((next) =>
        next === type || here.some(({ parent: seen }) => seen === next) ? [] : below(next, here),
      );
    });
  return below(type, []);
}

/** The fields of a type that return objects, each with the shortest way to a leaf of an object that they return. */
export function objectFieldsOf(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  values: Values,
): Leaf[] {
  return stepsOf(type, values).flatMap((step) => {
    const path = [step];
    for (let last = step; !isLeafType(getNamedType(last.field.type)); ) {
      const [next] = objectsOf(schema, last.field.type);
      const steps = next ? stepsOf(next, values) : [];
      const named = (name: string) => steps.find(({ field }) => field.name === name);
      const following =
        named('edges') ??
        named('node') ??
        named('id') ??
        steps.find(({ field }) => isLeafType(getNamedType(field.type))) ??
        steps[0];
      if (!following || path.length === MAX_LEAF_STEPS + 2) return [];
      path.push(following);
      last = following;
    }
    return path.length > 1 ? [path] : [];
  });
}

/** The fields of a type that a tenant may read, and whose required arguments have values. */
function stepsOf(parent: GraphQLObjectType, values: Values): Step[] {
  return Object.values(parent.getFields()).flatMap((field) => {
    if (field.description?.includes('Requires the scope OPERATOR')) return [];
    const hasValue = ({ name }: GraphQLArgument) => variableOf(parent, field.name, name) in values;
    if (field.args.some((argument) => isRequiredArgument(argument) && !hasValue(argument)))
      return [];
    const isPage = field.args.some(({ name }) => name === 'first');
    const isList = isPage || isListType(getNullableType(field.type));
    return [{ field, parent, given: field.args.filter(hasValue), isPage, isList }];
  });
}

/** The object types that a field may return. */
function objectsOf(schema: GraphQLSchema, type: GraphQLOutputType): readonly GraphQLObjectType[] {
  const named: GraphQLNamedType = getNamedType(type);
  if (isObjectType(named)) return [named];
  return isAbstractType(named) ? schema.getPossibleTypes(named) : [];
}
