import assert from 'node:assert/strict';
import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
  type TypedDocumentNode,
} from '@apollo/client';
import { print } from 'graphql';
import { Observable } from 'rxjs';
import { overBoth, type Subscriber } from './subscribers.js';
import { assertReply, bot, headers, MESSAGE, present, url } from './target.js';

const CHAT: TypedDocumentNode<{ chat: { response: string; runId: string } }> = gql`
  mutation Chat($botId: ID!, $input: ChatInput!) {
    chat(botId: $botId, input: $input) { response runId }
  }
`;
const RUN: TypedDocumentNode<{ run: { status: string } }> = gql`
  query Run($id: ID!) { run(id: $id) { id status } }
`;
const STREAM: TypedDocumentNode<{ chat: { __typename: string; delta?: string } }> = gql`
  subscription Stream($botId: ID!, $input: ChatInput!) {
    chat(botId: $botId, input: $input) { __typename ... on TextDelta { delta } }
  }
`;
const variables = { botId: bot, input: { message: MESSAGE } };

const link = new HttpLink({ uri: `${url}/graphql`, headers });
const client = new ApolloClient({ link, cache: new InMemoryCache() });
const { data: answer } = await client.mutate({ mutation: CHAT, variables });
const { response, runId } = present(answer, 'reply').chat;
assertReply(response);
const { data: found } = await client.query({ query: RUN, variables: { id: runId } });
assert.equal(present(found, 'run').run.status, 'COMPLETED');
const failure = await client
  .mutate({ mutation: CHAT, variables: { ...variables, botId: 'none' } })
  .catch((error: unknown) => error);
assert.ok(CombinedGraphQLErrors.is(failure));
assert.equal(failure.errors[0]?.extensions?.code, 'BOT_NOT_FOUND');

/** The link that graphql-sse's and graphql-ws' manuals describe. */
const linkTo = (subscriber: Subscriber) =>
  new ApolloLink(
    ({ query, ...operation }) =>
      new Observable((observer) =>
        subscriber.subscribe({ ...operation, query: print(query) }, observer as never),
      ),
  );

await overBoth(async (subscriber) => {
  const streaming = new ApolloClient({ link: linkTo(subscriber), cache: new InMemoryCache() });
  let text = '';
  await streaming.subscribe({ query: STREAM, variables }).forEach(({ data, error }) => {
    if (error) throw error;
    text += data?.chat.delta ?? '';
  });
  assertReply(text);
});

console.log('mutation, query, an error, subscriptions over SSE and WebSocket');
