import { createClient as createEventClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { TestApp } from './app.ts';

export type Operation = {
  /** Empty if the request has a document id instead. */
  query: string;
  documentId?: string;
  variables?: Record<string, unknown>;
};

/** The results of an operation, in order. A rejection is a single result with only errors. */
export type Results = {
  data?: unknown;
  errors?: { message: string; extensions: Record<string, unknown> }[];
}[];

/** Runs an operation with a key and reads all of its results. */
export type Way = (app: TestApp, key: string, operation: Operation) => Promise<Results>;

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

const all = async (results: AsyncIterable<unknown>) => (await Array.fromAsync(results)) as Results;

const post = (key: string, operation: Operation) => ({
  method: 'POST' as const,
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...bearer(key),
  },
  body: JSON.stringify(operation),
});

const resultsIn = (contentType: unknown, text: string): Results =>
  String(contentType).startsWith('text/event-stream')
    ? [...text.matchAll(/^data: ?(\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json))
    : [JSON.parse(text)];

type Name = 'HTTP' | 'no socket' | 'SSE' | 'SSE on one connection' | 'WebSocket';

/** The GraphQL transports by name, and the in-process server without a socket. */
export const WAYS: Record<Name, Way> = {
  HTTP: async (app, key, operation) => {
    const response = await fetch(`${app.url}/graphql`, post(key, operation));
    return resultsIn(response.headers.get('content-type'), await response.text());
  },

  'no socket': async (app, key, operation) => {
    const { headers, payload } = await app.inject({ url: '/graphql', ...post(key, operation) });
    return resultsIn(headers['content-type'], payload);
  },

  SSE: (app, key, operation) =>
    all(
      createEventClient({
        url: `${app.url}/graphql/stream`,
        headers: bearer(key),
        retryAttempts: 0,
      }).iterate(operation),
    ),

  'SSE on one connection': async (app, key, operation) => {
    const client = createEventClient({
      url: `${app.url}/graphql/stream`,
      headers: bearer(key),
      singleConnection: true,
      retryAttempts: 0,
    });
    const results = await all(client.iterate(operation));
    client.dispose();
    return results;
  },

  WebSocket: async (app, key, operation) => {
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: bearer(key),
      retryAttempts: 0,
    });
    try {
      return await all(client.iterate(operation));
    } catch (errors) {
      if (!Array.isArray(errors)) throw errors;
      return [{ errors }];
    } finally {
      await client.dispose();
    }
  },
};
