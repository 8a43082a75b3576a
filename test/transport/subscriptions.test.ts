import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fastify } from 'fastify';
import { GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Context } from '../../src/schema/context.ts';
import { createEngine } from '../../src/transport/engine.ts';
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

/** A schema with a subscription whose events are in memory, and whose resolver does `work` for each. */
function schemaOf(events: number, work: () => void): GraphQLSchema {
  const Subscription = new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      any: {
        type: GraphQLString,
        async *subscribe() {
          for (let event = 0; event < events; event += 1) yield 'event';
        },
        resolve: (event) => {
          work();
          return event;
        },
      },
    },
  });
  return new GraphQLSchema({ query: Query, subscription: Subscription });
}

const DOCUMENT = 'subscription { any }';
const CONTEXT = {
  caller: () => ({ key: { id: 'key_1' } }),
  keys: { watch: () => () => {} },
  signal: new AbortController().signal,
};

/** Reads all events of a schema's subscription. */
const READERS = {
  GraphQL: async (schema: GraphQLSchema) => {
    const document = parse(DOCUMENT);
    const results = await createSubscribe(() => () => {})({
      ...{ schema, document, contextValue: CONTEXT },
    });
    if (!(Symbol.asyncIterator in results)) throw new Error('The subscription did not begin.');
    return Array.fromAsync(results);
  },
  REST: async (schema: GraphQLSchema) => {
    const app = fastify();
    onTestFinished(() => app.close());
    const engine = await createEngine(app, schema);
    const operation = { document: DOCUMENT };
    engine.prepare(operation);
    return Array.fromAsync(await engine.subscribe(operation, {}, CONTEXT as unknown as Context));
  },
};

test.each(Object.entries(READERS))(
  'streams of %s whose events are in memory let other work run between their events',
  async (_name, read) => {
    // The turn of an earlier test was measured by another clock.
    await nextTurn();
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    let turns = 0;
    let most = 0;
    let inTurn = 0;
    const countTurns = () => {
      turns += 1;
      inTurn = 0;
      counting = setImmediate(countTurns);
    };
    let counting = setImmediate(countTurns);
    onTestFinished(() => clearImmediate(counting));
    // Each event takes 1 ms of CPU time.
    const work = () => {
      now += 1;
      inTurn += 1;
      most = Math.max(most, inTurn);
    };
    const streams = await Promise.all([read(schemaOf(500, work)), read(schemaOf(500, work))]);
    expect(streams.map((results) => results.length)).toEqual([500, 500]);
    expect(turns).toBeGreaterThan(50);
    expect(most).toBeLessThan(20);
  },
);

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
