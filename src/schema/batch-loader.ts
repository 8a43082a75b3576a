import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { type GraphQLResolveInfo, locatedError, responsePathAsArray } from 'graphql';
import { GatewayError } from '../errors/errors.ts';
import type { Context } from './context.ts';

/** Details about the loads of a batch. */
export type Operation = {
  /** How often the batch loads a key: a parent can occur more than once in the response. */
  timesOf(key: string): number;
  /** Resolve info of the first load. */
  info: GraphQLResolveInfo;
};

/** Loads the value of one parent by its key. Questions are compared as JSON. `path` is the field's own by default. */
export type Load<Question, Answer> = (
  key: string,
  question: Question,
  context: Context,
  info: GraphQLResolveInfo,
  path?: GraphQLResolveInfo['path'],
) => Promise<Answer>;

/**
 * Batches all loads of one event loop iteration and caches nothing afterwards. The entries of a list resolve in the same
 * iteration, because they were read together.
 */
export const ONE_ITERATION = { cache: false, batchScheduleFn: setImmediate };

/**
 * Batches the loads of a field. Loads of one operation at the same path of the response, with the same question and in
 * the same event loop iteration, become one call of `load`, and duplicate keys are merged.
 *
 * @param load loads the values of all keys. Returns a lookup by key.
 */
export function batchLoader<Question, Answer>(
  load: (
    keys: string[],
    question: Question,
    context: Context,
    operation: Operation,
  ) => Promise<(key: string) => Answer>,
): Load<Question, Answer> {
  const loadersOf = createContextCache(
    (_: Context) => new Map<string, DataLoader<string, Answer>>(),
  );
  return (key, question, context, info, path = info.path) => {
    const loaders = loadersOf(context);
    const name = JSON.stringify([responsePathAsArray(path).filter(isName), question]);
    const begin = () =>
      new DataLoader<string, Answer>(async (keys) => {
        // The next event of a subscription has its own resolve info.
        loaders.delete(name);
        const times = new Map<string, number>();
        for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
        const timesOf = (key: string) => times.get(key) ?? 0;
        const answerOf = await load([...times.keys()], question, context, { timesOf, info }).catch(
          (error) => {
            throw located(error, info);
          },
        );
        return keys.map(answerOf);
      }, ONE_ITERATION);
    const loader = loaders.get(name) ?? begin();
    loaders.set(name, loader);
    return loader.load(key);
  };
}

/**
 * Gives an error of a batch the place of its first load. All loads of the batch then share one error: without a place,
 * graphql-js makes an error for each of them, and thousands of errors take seconds.
 */
export function located(error: unknown, { fieldNodes, path }: GraphQLResolveInfo): unknown {
  if (!(error instanceof GatewayError)) return error;
  return locatedError(error, fieldNodes, responsePathAsArray(path));
}

/** Whether a step of a response path is a field, not a list index. */
function isName(step: string | number): step is string {
  return typeof step === 'string';
}
