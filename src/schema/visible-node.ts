import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { ONE_ITERATION } from './batch-loader.ts';
import type { Context } from './context.ts';

/**
 * Creates the `findUnique` condition of a node type with restricted visibility.
 *
 * @param find finds the ids that the caller may see. Concurrent lookups are batched into one call.
 */
export function visibleNode(
  find: (ids: string[], context: Context) => PromiseLike<{ id: string }[]>,
): (id: string, context: Context) => Promise<{ id: string }> {
  const loaderOf = createContextCache(
    (context: Context) =>
      new DataLoader<string, { id: string }>(async (ids) => {
        const visible = new Set((await find([...ids], context)).map(({ id }) => id));
        // No row has an empty id, so the lookup finds nothing.
        return ids.map((id) => ({ id: visible.has(id) ? id : '' }));
      }, ONE_ITERATION),
  );
  return (id, context) => loaderOf(context).load(id);
}
