import { once } from 'node:events';
import { GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../src/schema/context.ts';
import { createSubscribe } from '../../src/transport/graphql/subscriptions.ts';

const Query = new GraphQLObjectType({ name: 'Query', fields: { any: { type: GraphQLString } } });

/** Reads a subscription whose source waits until it is told to stop, and then fails over that. */
async function readFailing(reader: AbortController) {
  const Subscription = new GraphQLObjectType<unknown, Context>({
    name: 'Subscription',
    fields: {
      any: {
        type: GraphQLString,
        async *subscribe(_root, _args, { signal }) {
          await once(signal, 'abort');
          yield await Promise.reject(new Error('canary'));
        },
      },
    },
  });
  let endKey = () => {};
  const keys = {
    watch(_caller: unknown, ended: () => void) {
      endKey = ended;
      return () => {};
    },
  };
  const results = await createSubscribe(() => () => {})({
    schema: new GraphQLSchema({ query: Query, subscription: Subscription }),
    document: parse('subscription { any }'),
    contextValue: { caller: () => ({ key: { id: 'key_1' } }), keys, signal: reader.signal },
  });
  if (!(Symbol.asyncIterator in results)) throw new Error('It did not begin.');
  return { told: Array.fromAsync(results), endKey };
}

describe('a subscription that fails over its end', () => {
  test('tells of its key where that is what has ended', async () => {
    const { told, endKey } = await readFailing(new AbortController());
    endKey();
    expect(await told).toMatchObject([
      { errors: [{ originalError: { code: 'invalid_api_key' } }] },
    ]);
  });

  test('tells nothing where its reader has left', async () => {
    const reader = new AbortController();
    const { told } = await readFailing(reader);
    reader.abort();
    expect(await told).toEqual([]);
  });
});
