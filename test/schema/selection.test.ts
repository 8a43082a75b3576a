import { buildSchema, type FieldNode, type GraphQLResolveInfo, Kind, parse } from 'graphql';
import { expect, test } from 'vitest';
import { lazy } from '../../src/async/lazy.ts';
import { createReadBudget } from '../../src/schema/read-budget.ts';
import { demandIn } from '../../src/schema/selection.ts';

const schema = buildSchema('type Query { ratings: [Rating!]! } type Rating { note: String }');

/** What `demandIn` reads of the resolve info of a field, and how often it has read the fragments. */
function infoOf(document: string, variableValues: Record<string, unknown>) {
  const [operation] = parse(document).definitions;
  const fieldNodes =
    operation?.kind === Kind.OPERATION_DEFINITION
      ? operation.selectionSet.selections.filter((one): one is FieldNode => one.kind === Kind.FIELD)
      : [];
  let weighings = 0;
  const returnType = schema.getQueryType()?.getFields().ratings?.type;
  if (!returnType) throw new Error('The schema has no ratings.');
  const info = {
    fieldNodes,
    returnType,
    schema,
    variableValues,
    get fragments(): GraphQLResolveInfo['fragments'] {
      weighings += 1;
      return {};
    },
  };
  return { info, weighings: () => weighings };
}

test('a selection is weighed once for all rows at its place, and again for another operation', () => {
  const { info, weighings } = infoOf('{ ratings { one: note two: note } }', {});
  const context = { readBudget: lazy(createReadBudget) };
  const demand = demandIn(info, context);
  expect(demand.copies).toBe(2);
  const first = weighings();
  for (let row = 0; row < 100; row += 1) expect(demandIn(info, context)).toBe(demand);
  expect(weighings()).toBe(first);

  const other = infoOf('{ ratings { note } }', {});
  expect(demandIn(other.info, context).copies).toBe(1);

  demandIn(info, { readBudget: lazy(createReadBudget) });
  expect(weighings()).toBeGreaterThan(first);
});
