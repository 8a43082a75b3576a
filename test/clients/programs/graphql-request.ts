import assert from 'node:assert/strict';
import { ClientError, GraphQLClient, gql } from 'graphql-request';
import { assertReply, bot, headers, MESSAGE, url } from './target.js';

const client = new GraphQLClient(`${url}/graphql`, { headers });

const { chat } = await client.request<{ chat: { response: string; runId: string } }>(
  gql`
    mutation Chat($botId: ID!, $input: ChatInput!) {
      chat(botId: $botId, input: $input) { response runId }
    }
  `,
  { botId: bot, input: { message: MESSAGE } },
);
assertReply(chat.response);

const RUN = gql`query Run($id: ID!) { run(id: $id) { status } }`;
const { run } = await client.request<{ run: { status: string } }>(RUN, { id: chat.runId });
assert.equal(run.status, 'COMPLETED');

const failure = await client
  .request('mutation { chat(botId: "none", input: { message: "Hi" }) { runId } }')
  .catch((error: unknown) => error);
assert.ok(failure instanceof ClientError);
assert.equal(failure.response.errors?.[0]?.extensions.code, 'BOT_NOT_FOUND');

console.log('mutation, query, an error');
