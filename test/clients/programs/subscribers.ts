import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createWebSocketClient } from 'graphql-ws';
import { headers, url } from './target.js';

/** The reference clients of the two subscription protocols, with the same interface. */
export const subscribers = {
  sse: createSseClient({ url: `${url}/graphql/stream`, headers }),
  webSocket: createWebSocketClient({
    url: `${url.replace('http', 'ws')}/graphql/ws`,
    connectionParams: headers,
  }),
};

export type Subscriber = (typeof subscribers)[keyof typeof subscribers];

/** Runs a check over both protocols, and closes their connections. */
export async function overBoth(check: (subscriber: Subscriber) => Promise<void>): Promise<void> {
  for (const subscriber of Object.values(subscribers)) {
    await check(subscriber);
    await subscriber.dispose();
  }
}
