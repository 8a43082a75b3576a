import assert from 'node:assert/strict';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { deployWith } from './model-server.js';
import { apiKey, assertReply, bot, keyFor, limitedKey, MESSAGE, present, url } from './target.js';

const baseURL = `${url}/v1`;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const messages = [{ role: 'user' as const, content: MESSAGE }];

const models = await Array.fromAsync(client.models.list());
assert.ok(models.some(({ id }) => id === bot));
assert.equal((await client.models.retrieve(bot)).owned_by, 'Clients');

const { data: completion, response } = await client.chat.completions
  .create({ model: bot, messages })
  .withResponse();
assertReply(present(completion.choices[0]?.message.content, 'content'));
assert.equal(completion.id, response.headers.get('x-run-id'));
assert.ok(present(completion.usage, 'usage').total_tokens > 0);

const stream = await client.chat.completions.create({
  model: bot,
  messages,
  stream: true,
  stream_options: { include_usage: true },
});
let text = '';
let total = 0;
for await (const { choices, usage } of stream) {
  text += choices[0]?.delta.content ?? '';
  total += usage?.total_tokens ?? 0;
}
assertReply(text);
assert.ok(total > 0);

const helper = client.chat.completions.stream({ model: bot, messages });
const contents: string[] = [];
helper.on('content', (delta) => contents.push(delta));
const final = await helper.finalChatCompletion();
assertReply(present(final.choices[0]?.message.content, 'content'));
assert.equal(contents.join(''), final.choices[0]?.message.content);

// The offline model replies with an object that fits the schema.
const parsed = await client.chat.completions.parse({
  model: bot,
  messages,
  response_format: zodResponseFormat(z.object({ city: z.string() }), 'place'),
});
assert.equal(typeof parsed.choices[0]?.message.parsed?.city, 'string');

const session = { headers: { 'X-Session-ID': 'user-1' } };
for (const _ of [1, 2]) await client.chat.completions.create({ model: bot, messages }, session);

const first = await client.responses.create({ model: bot, input: MESSAGE });
assertReply(first.output_text);
const second = await client.responses.create({
  model: bot,
  input: MESSAGE,
  previous_response_id: first.id,
  stream: true,
});
const types: string[] = [];
for await (const { type } of second) types.push(type);
assert.deepEqual([types[0], types.at(-1)], ['response.created', 'response.completed']);
const events = client.responses.stream({ model: bot, input: MESSAGE, store: false });
assertReply((await events.finalResponse()).output_text);
assert.equal((await client.responses.retrieve(first.id)).status, 'completed');
const resumed = await client.responses.retrieve(first.id, { stream: true, starting_after: 2 });
let last = '';
for await (const event of resumed) last = event.type;
assert.equal(last, 'response.completed');
const queued = await client.responses.create({ model: bot, input: MESSAGE, background: true });
const cancelled = await client.responses.cancel(queued.id);
assert.ok(
  ['queued', 'in_progress', 'completed', 'cancelled'].includes(present(cancelled.status, 'status')),
);

const single = await client.responses.create({ model: bot, input: MESSAGE });
await client.responses.delete(single.id);
await assert.rejects(client.responses.retrieve(single.id), NotFoundError);

const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AA' } };
await assert.rejects(
  client.chat.completions.create({ model: bot, messages: [{ role: 'user', content: [image] }] }),
  (error) =>
    error instanceof BadRequestError &&
    error.code === 'unsupported_content' &&
    error.param === 'messages.0.content.0',
);
await assert.rejects(
  client.chat.completions.create({ model: 'none', messages }),
  (error) => error instanceof NotFoundError && error.code === 'model_not_found',
);
const withKey = (key: string) => new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
await assert.rejects(withKey('sk-none').models.list(), AuthenticationError);
await assert.rejects(withKey(await keyFor('RUNS')).models.list(), PermissionDeniedError);
const limited = withKey(limitedKey);
const exhausted = async () => {
  for (;;) await limited.models.list();
};
await assert.rejects(
  exhausted(),
  (error) =>
    error instanceof RateLimitError &&
    error.type === 'rate_limit_error' &&
    Number(error.headers.get('retry-after')) > 0,
);
await assert.rejects(
  client.chat.completions.create({ model: bot, messages: [{ role: 'user', content: '' }] }),
  BadRequestError,
);

// Its model server fails each answer to this message.
await deployWith(process.env.MOCK_LLM_URL ?? '');
const failing = { model: bot, messages: [{ role: 'user' as const, content: 'Fail' }] };
await assert.rejects(
  client.chat.completions.create(failing),
  (error) => error instanceof InternalServerError && error.code === 'model_error',
);
await assert.rejects(
  client.responses.create({ model: bot, input: 'Fail' }),
  (error) => error instanceof InternalServerError && error.code === 'model_error',
);
await assert.rejects(
  async () => {
    for await (const _ of await client.chat.completions.create({ ...failing, stream: true }));
  },
  (error) => error instanceof APIError && error.code === 'model_error',
);

console.log(
  `models, ${contents.length} deltas of a helper, a parsed object, ${types.length} events of a response, seven typed errors`,
);
