import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, Output, streamText } from 'ai';
import { z } from 'zod';
import { apiKey, assertReply, bot, MESSAGE, url } from './target.js';

const baseURL = `${url}/v1`;
const compatible = createOpenAICompatible({
  name: 'parley',
  baseURL,
  apiKey,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const openai = createOpenAI({ baseURL, apiKey });
const models = {
  'openai-compatible': compatible(bot),
  'openai, chat': openai.chat(bot),
  'openai, responses': openai.responses(bot),
};

let streamed = 0;
for (const model of Object.values(models)) {
  const system = 'Be kind.';
  const { text, usage, finishReason } = await generateText({ model, system, prompt: MESSAGE });
  assertReply(text);
  assert.equal(finishReason, 'stop');
  assert.ok((usage.totalTokens ?? 0) > 0);

  const reply = streamText({ model, prompt: MESSAGE });
  let whole = '';
  for await (const delta of reply.textStream) {
    whole += delta;
    streamed += 1;
  }
  assertReply(whole);
  assert.ok(((await reply.usage).totalTokens ?? 0) > 0);

  const schema = z.object({ city: z.string() });
  const { output } = await generateText({
    model,
    prompt: MESSAGE,
    output: Output.object({ schema }),
  });
  assert.equal(typeof output.city, 'string');
}

const history = await generateText({
  model: compatible(bot),
  messages: [
    { role: 'user', content: 'Before' },
    { role: 'assistant', content: 'Yes.' },
    { role: 'user', content: MESSAGE },
  ],
});
assertReply(history.text);

await assert.rejects(
  generateText({ model: compatible('none'), prompt: MESSAGE, maxRetries: 0 }),
  (error) => APICallError.isInstance(error) && error.statusCode === 404 && !error.isRetryable,
);

console.log(
  `texts, ${streamed} deltas and objects of ${Object.keys(models).length} models, an error`,
);
