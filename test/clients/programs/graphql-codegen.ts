import assert from 'node:assert/strict';
import { graphql } from '../generated/graphql-codegen/gql.js';
import type {
  CodegenStreamSubscription,
  TypedDocumentString,
} from '../generated/graphql-codegen/graphql.js';
import { overBoth } from './subscribers.js';
import { assertReply, bot, headers, MESSAGE, present, url } from './target.js';

const CHAT = graphql(`
  mutation CodegenChat($botId: ID!, $input: ChatInput!) {
    chat(botId: $botId, input: $input) { response run { id status } }
  }
`);
const RUNS = graphql(`
  query CodegenRuns($botId: ID!) {
    runs(botId: $botId, first: 1) { edges { node { id status createdAt trace { spans { name } } } } }
  }
`);
const STREAM = graphql(`
  subscription CodegenStream($botId: ID!, $input: ChatInput!) {
    chat(botId: $botId, input: $input) { __typename ... on TextDelta { delta } }
  }
`);
const variables = { botId: bot, input: { message: MESSAGE } };

async function send<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: document.toString(), variables }),
  });
  const { data, errors } = await answer.json();
  assert.equal(errors, undefined);
  return data;
}

const { response, run } = present((await send(CHAT, variables)).chat, 'reply');
assertReply(response);
const { runs } = await send(RUNS, { botId: bot });
assert.equal(runs.edges[0]?.node.id, run.id);
assert.equal(runs.edges[0]?.node.status, 'COMPLETED');

await overBoth(async (subscriber) => {
  let text = '';
  const query = STREAM.toString();
  for await (const { data } of subscriber.iterate<CodegenStreamSubscription>({
    query,
    variables,
  })) {
    if (data?.chat.__typename === 'TextDelta') text += data.chat.delta;
  }
  assertReply(text);
});

console.log('typed documents; mutation, query, subscriptions over SSE and WebSocket');
