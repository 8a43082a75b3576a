import { Client, cacheExchange, fetchExchange, makeOperation, mapExchange } from 'urql';
import { noteServerTime } from './clock.ts';
import { noteAway, noteHere } from './connection.ts';
import { takeFirstResponse } from './first-request.ts';
import { CONSOLE_HEADERS } from './headers.ts';
import { isSessionEnd, problemOf } from './problem.ts';
import { noteRefusal, noteSession, noteSessionEnd } from './session.ts';

/** The GraphQL client. It sends ids of persisted operations, never texts. */
export const client = new Client({
  url: '/graphql',
  preferGetMethod: false,
  fetchOptions: { headers: { ...CONSOLE_HEADERS, accept: 'application/json' } },
  async fetch(url, options) {
    const response = await (takeFirstResponse(options?.body) ?? fetch(url, options));
    noteServerTime(response.headers.get('date'));
    return response;
  },
  exchanges: [
    cacheExchange,
    mapExchange({
      /** Only a document without definitions is sent by its id. */
      onOperation: (operation) =>
        makeOperation(operation.kind, {
          ...operation,
          query: { ...operation.query, definitions: [] },
        }),
      onResult({ data, error }) {
        if (error?.networkError && !error.response) return noteAway();
        noteHere();
        if (error && isSessionEnd(problemOf(error))) noteSessionEnd();
        else if (data) noteSession();
        else noteRefusal();
      },
    }),
    fetchExchange,
  ],
});
