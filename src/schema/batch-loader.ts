import { setImmediate } from 'node:timers/promises';
import { createContextCache } from '@pothos/core';
import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { Context } from './context.ts';

/** What was asked in one moment, for each of some parents. */
type Batch<Answer> = { keys: Map<string, number>; answerOf: Promise<(key: string) => Answer> };

/** What a load may know of those that ask. */
export type Asked = {
  /** How many entries of the answer ask for one: a parent may come more than once. */
  timesOf(key: string): number;
  /** The field that asks, as it is resolved first; none where it did not say. */
  info: GraphQLResolveInfo | undefined;
};

/** Asks for one parent, by its key. A question is what can be written as JSON. */
export type Ask<Question, Answer> = (
  key: string,
  question: Question,
  context: Context,
  info?: GraphQLResolveInfo,
) => Promise<Answer>;

/**
 * Makes a field of many parents ask the database once for all of them: what one operation asks at one place of its
 * document, in the same moment, is asked together, and of a parent that comes twice once. Nothing is remembered
 * after. The entries of a list are resolved in the same moment, since they were read together.
 *
 * @param load asks for all of some parents, and answers for each.
 */
export function together<Question, Answer>(
  load: (
    keys: string[],
    question: Question,
    context: Context,
    asked: Asked,
  ) => Promise<(key: string) => Answer>,
): Ask<Question, Answer> {
  const batchesOf = createContextCache((_: Context) => new Map<string, Batch<Answer>>());
  return async (key, question, context, info) => {
    const batches = batchesOf(context);
    const name = JSON.stringify([placeOf(info), question]);
    const begin = (): Batch<Answer> => {
      const keys = new Map<string, number>();
      const asked = { timesOf: (key: string) => keys.get(key) ?? 0, info };
      // All that is resolved by then asks too.
      const answerOf = setImmediate().then(() => {
        batches.delete(name);
        return load([...keys.keys()], question, context, asked);
      });
      return { keys, answerOf };
    };
    const batch = batches.get(name) ?? begin();
    batches.set(name, batch);
    batch.keys.set(key, (batch.keys.get(key) ?? 0) + 1);
    return (await batch.answerOf)(key);
  };
}

/** Where a field stands in the answer, whichever entry of a list it is of. */
function placeOf(info: GraphQLResolveInfo | undefined): (string | number)[] {
  return responsePathAsArray(info?.path).filter((key) => typeof key === 'string');
}
