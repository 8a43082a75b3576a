import { once } from 'node:events';
import { GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../src/schema/context.ts';
import { createSubscribe } from '../../src/transport/graphql/subscriptions.ts';

const Query = new GraphQLObjectType({ name: 'Query', fields: { any: { type: GraphQLString } } });

/** Reads a subscription whose source waits for its abort and then fails. */
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
  if (!(Symbol.asyncIterator in results)) throw new Error('The subscription did not begin.');
  return { received: Array.fromAsync(results), endKey };
}

describe('a subscription whose source fails at its end', () => {
  test('returns the error of its key if the key has ended', async () => {
    const { received, endKey } = await readFailing(new AbortController());
    endKey();
    expect(await received).toMatchObject([
      { errors: [{ originalError: { code: 'invalid_api_key' } }] },
    ]);
  });

  test('returns nothing if its reader has disconnected', async () => {
    const reader = new AbortController();
    const { received } = await readFailing(reader);
    reader.abort();
    expect(await received).toEqual([]);
  });
});
