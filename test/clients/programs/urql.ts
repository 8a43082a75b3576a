import assert from 'node:assert/strict';
import { Client, cacheExchange, fetchExchange, gql, subscriptionExchange } from '@urql/core';
import { overBoth } from './subscribers.js';
import { assertReply, bot, headers, MESSAGE, present, url } from './target.js';

const CHAT = gql<{ chat: { response: string; runId: string } }>`
  mutation Chat($botId: ID!, $input: ChatInput!) {
    chat(botId: $botId, input: $input) { response runId }
  }
`;
const RUN = gql<{ run: { status: string } }>`query Run($id: ID!) { run(id: $id) { id status } }`;
const STREAM = gql<{ chat: { __typename: string; delta?: string } }>`
  subscription Stream($botId: ID!, $input: ChatInput!) {
    chat(botId: $botId, input: $input) { __typename ... on TextDelta { delta } }
  }
`;
const variables = { botId: bot, input: { message: MESSAGE } };
const options = {
  url: `${url}/graphql`,
  fetchOptions: { headers },
  preferGetMethod: false as const,
};

const client = new Client({ ...options, exchanges: [cacheExchange, fetchExchange] });
const { data: answer } = await client.mutation(CHAT, variables);
const { response, runId } = present(answer, 'reply').chat;
assertReply(response);
const { data: found } = await client.query(RUN, { id: runId });
assert.equal(present(found, 'run').run.status, 'COMPLETED');
const { error } = await client.mutation(CHAT, { ...variables, botId: 'none' });
assert.equal(error?.graphQLErrors[0]?.extensions.code, 'BOT_NOT_FOUND');

/** The reply, put together from a subscription. */
const streamed = (source: Client) =>
  new Promise<string>((resolve, reject) => {
    let text = '';
    source.subscription(STREAM, variables).subscribe(({ data, error }) => {
      if (error) reject(error);
      text += data?.chat.delta ?? '';
      if (data?.chat.__typename === 'ChatDone') resolve(text);
    });
  });

await overBoth(async (subscriber) => {
  const exchange = subscriptionExchange({
    forwardSubscription: ({ query = '', variables }) => ({
      subscribe: (sink) => ({
        unsubscribe: subscriber.subscribe({ query, variables }, sink as never),
      }),
    }),
  });
  assertReply(await streamed(new Client({ ...options, exchanges: [exchange] })));
});
assertReply(
  await streamed(new Client({ ...options, fetchSubscriptions: true, exchanges: [fetchExchange] })),
);

console.log('mutation, query, an error, subscriptions over SSE, WebSocket and its own fetch');
