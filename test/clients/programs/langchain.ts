import assert from 'node:assert/strict';
import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { apiKey, assertReply, bot, MESSAGE, url } from './target.js';

const options = { model: bot, apiKey, configuration: { baseURL: `${url}/v1` }, maxRetries: 0 };
const chat = new ChatOpenAI(options);

const reply = await chat.invoke([
  new SystemMessage('Be kind.'),
  new HumanMessage('Before'),
  new AIMessage('Yes.'),
  new HumanMessage(MESSAGE),
]);
assertReply(reply.text);
assert.ok((reply.usage_metadata?.total_tokens ?? 0) > 0);

let text = '';
let chunks = 0;
for await (const chunk of await chat.stream(MESSAGE)) {
  text += chunk.text;
  chunks += 1;
}
assertReply(text);

const schema = z.object({ city: z.string() });
const structured = chat.withStructuredOutput(schema, { method: 'jsonSchema' });
assert.equal(typeof (await structured.invoke(MESSAGE)).city, 'string');

const responses = new ChatOpenAI({ ...options, useResponsesApi: true });
assertReply((await responses.invoke(MESSAGE)).text);

await assert.rejects(new ChatOpenAI({ ...options, model: 'none' }).invoke(MESSAGE), /none/);

console.log(`a history, ${chunks} chunks, an object, a response, an error`);
