import { setImmediate } from 'node:timers/promises';
import { createContextCache } from '@pothos/core';
import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { Context } from './context.ts';

/** Concurrent requests for one question; `keys` counts the requests for each parent. */
type Batch<Answer> = { keys: Map<string, number>; answerOf: Promise<(key: string) => Answer> };

/** Details about the requests of a batch. */
export type Asked = {
  /** How often the batch requests a key: a parent can occur more than once in the response. */
  timesOf(key: string): number;
  /** Resolve info of the first request; none if it passed none. */
  info: GraphQLResolveInfo | undefined;
};

/** Loads the value of one parent by its key. Questions are compared as JSON. */
export type Ask<Question, Answer> = (
  key: string,
  question: Question,
  context: Context,
  info?: GraphQLResolveInfo,
) => Promise<Answer>;

/**
 * Batches the loads of a field. Loads of one operation at the same path of the response, with the same question and in
 * the same event loop iteration, become one call of `load`, and duplicate keys are merged. Nothing is cached
 * afterwards. The entries of a list resolve in the same iteration, because they were read together.
 *
 * @param load loads the values of all keys. Returns a lookup by key.
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
      // Fields that resolve before the next iteration join the batch.
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

/** The response path of a field without list indexes. */
function placeOf(info: GraphQLResolveInfo | undefined): (string | number)[] {
  return responsePathAsArray(info?.path).filter((key) => typeof key === 'string');
}
