import assert from 'node:assert/strict';
import {
  commitMutation,
  Environment,
  type FetchFunction,
  fetchQuery,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime';
import chatMutation, {
  type relayDocumentsChatMutation,
} from '../generated/relay/relayDocumentsChatMutation.graphql.js';
import chatSubscription, {
  type relayDocumentsChatSubscription,
} from '../generated/relay/relayDocumentsChatSubscription.graphql.js';
import runsQuery, {
  type relayDocumentsRunsQuery,
} from '../generated/relay/relayDocumentsRunsQuery.graphql.js';
import { overBoth, type Subscriber } from './subscribers.js';
import { assertReply, bot, headers, MESSAGE, present, url } from './target.js';

const variables = { botId: bot, input: { message: MESSAGE } };

const fetchGraphQL: FetchFunction = async ({ text }, variables) => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: text, variables }),
  });
  return response.json();
};

const environmentOf = (subscriber?: Subscriber) =>
  new Environment({
    store: new Store(new RecordSource()),
    network: Network.create(
      fetchGraphQL,
      subscriber &&
        (({ text }, variables) =>
          Observable.create((sink) =>
            subscriber.subscribe({ query: text ?? '', variables }, sink as never),
          )),
    ),
  });

const environment = environmentOf();
const reply = await new Promise<relayDocumentsChatMutation['response']>((resolve, reject) => {
  commitMutation<relayDocumentsChatMutation>(environment, {
    mutation: chatMutation,
    variables,
    onCompleted: (data, errors) => (errors?.[0] ? reject(errors[0]) : resolve(data)),
    onError: reject,
  });
});
const { response, run } = present(reply.chat, 'reply');
assertReply(response);

const page = await fetchQuery<relayDocumentsRunsQuery>(environment, runsQuery, {
  botId: bot,
  first: 1,
}).toPromise();
assert.deepEqual(
  present(page, 'page').runs.edges.map(({ node }) => node.id),
  [run.id],
);

await overBoth(
  (subscriber) =>
    new Promise((resolve, reject) => {
      let text = '';
      requestSubscription<relayDocumentsChatSubscription>(environmentOf(subscriber), {
        subscription: chatSubscription,
        variables,
        onNext: (data) => {
          const event = data?.chat;
          if (event?.__typename === 'TextDelta') text += event.delta;
        },
        onError: reject,
        onCompleted: () => {
          assertReply(text);
          resolve();
        },
      });
    }),
);

console.log('compiled 3 documents; mutation, query, subscriptions over SSE and WebSocket');
