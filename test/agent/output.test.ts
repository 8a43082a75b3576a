import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readOutput } from '../../src/agent/output.ts';
import type { JsonObject } from '../../src/text/json.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { frames } from '../helpers/stream.ts';
import type { Script } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot('output { city string "Where"\n size integer? }\n  tools time');
});
beforeEach(() => {
  app.upstream.requests.length = 0;
});

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Where' },
    size: {
      type: 'integer',
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
    },
  },
  required: ['city'],
  additionalProperties: false,
};
const FORMAT = { type: 'json_schema', json_schema: { name: 'output', schema: SCHEMA } };

const answer =
  (text: string): Script =>
  ({ say, end }) => {
    for (const piece of text.split(/(?<= )/)) say(piece);
    end();
  };

/** Sets the scripts of the model's calls in order. */
const scripts = (...list: Script[]) => {
  const next = list.values();
  app.upstream.script((exchange) => next.next().value?.(exchange));
};

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/v1/bots/${bot}/${path}`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
/** Chats with an account of its own, because an account remembers what its server refuses. */
const chatOfOtherAccount = async () => {
  const other = await app.tenant();
  const bot = await other.bot('output { city string "Where"\n size integer? }\n  tools time');
  return (await other.chat(bot, { message: 'Where?' })).json();
};
const refuses =
  (body: string): Script =>
  ({ response }) =>
    void response.writeHead(400, { 'content-type': 'application/json' }).end(body);
const formats = () => app.upstream.requests.map(({ body }) => body.response_format);
const lastMessages = () => app.upstream.requests.at(-1)?.body.messages ?? [];

describe('an agent with an output', () => {
  test('requests JSON from the model, and returns the object and its text', async () => {
    scripts(answer('{"city": "Oslo"}'));
    const response = await post('chat', { message: 'Where?' });
    expect(await response.json()).toMatchObject({
      response: '{"city": "Oslo"}',
      output: { city: 'Oslo' },
    });
    expect(formats()).toEqual([FORMAT]);
    expect(lastMessages()[0]?.content).toContain(JSON.stringify(SCHEMA));
    const run = await fetch(`${app.url}/v1/bots/${bot}/runs/${response.headers.get('x-run-id')}`, {
      headers: tenant.headers,
    });
    expect(await run.json()).toMatchObject({ output: { city: 'Oslo' } });
  });

  test('returns the object over GraphQL, in the reply and in its run', async () => {
    scripts(answer('```json\n{"city": "Oslo", "size": 5}\n```'));
    const { data } = await tenant.graphql(
      'mutation ($bot: ID!) { chat(botId: $bot, input: { message: "Hi" }) { response output run { output } } }',
      { bot },
    );
    const output = { city: 'Oslo', size: 5 };
    expect(data.chat).toEqual({
      response: '{"city": "Oslo", "size": 5}',
      output,
      run: { output },
    });
  });

  test('lets the model repair an invalid answer once, and stores only the valid one', async () => {
    scripts(answer('It is Oslo.'), answer('{"city": "Oslo"}'), answer('{"city": "Bergen"}'));
    const headers = { 'x-session-id': 'repair' };
    expect(await (await post('chat', { message: 'Where?' }, headers)).json()).toMatchObject({
      response: '{"city": "Oslo"}',
      tokens_used: 30,
    });
    expect(lastMessages().slice(-2)).toEqual([
      { role: 'assistant', content: 'It is Oslo.' },
      { role: 'user', content: expect.stringMatching(/^Your answer is not valid: must be JSON\./) },
    ]);
    await post('chat', { message: 'And?' }, headers);
    expect(lastMessages().map(({ role, content }) => role !== 'system' && content)).toEqual([
      false,
      'Where?',
      '{"city": "Oslo"}',
      'And?',
    ]);
  });

  test.each([
    ['is not JSON', 'Oslo', 'must be JSON'],
    ['is not an object', '["Oslo"]', 'must be an object'],
    ['lacks a field', '{}', 'city: is required'],
    ['has an unknown field', '{"city": "Oslo", "x": 1}', 'Unrecognized key: "x"'],
  ])('fails the run if the second answer %s, too', async (_what, text, problem) => {
    scripts(answer(text), answer(text));
    const response = await post('chat', { message: 'Where?' });
    expect(response.status).toBe(500);
    expect((await response.json()).error).toMatchObject({
      code: 'model_error',
      message: 'The model did not answer with JSON that fits the output.',
    });
    expect(app.upstream.requests).toHaveLength(2);
    expect(lastMessages().at(-1)?.content).toContain(problem);
    const id = response.headers.get('x-run-id') ?? '';
    const run = await app.prisma.run.findUniqueOrThrow({ where: { id } });
    expect(run).toMatchObject({ status: 'FAILED', response: '', output: null });
  });

  test('calls tools before its answer, and streams only the object', async () => {
    scripts(({ say, call }) => {
      say('Let me look.');
      call(['time_now', {}]);
    }, answer('{"city": "Oslo"}'));
    const body = { message: 'Where?', stream: true };
    const response = await post('chat', body, { accept: 'text/event-stream' });
    const [text, ...rest] = await frames(response);
    expect(text).toEqual({ delta: '{"city": "Oslo"}' });
    expect(rest).toEqual([expect.objectContaining({ event: 'done' })]);
  });

  test('repeats the request with a simpler response_format, then without it, if the server refuses it', async () => {
    const refuse = refuses('{"error":{"message":"No.","param":"response_format"}}');
    scripts(refuse, refuse, answer('{"city": "Oslo"}'));
    const reply = await chatOfOtherAccount();
    expect(reply.output).toEqual({ city: 'Oslo' });
    expect(formats()).toEqual([FORMAT, { type: 'json_object' }, undefined]);
  });

  test('repeats the request once without response_format, if the server refuses it without a reason', async () => {
    scripts(refuses('{"error":{}}'), answer('{"city": "Oslo"}'));
    const reply = await chatOfOtherAccount();
    expect(reply.output).toEqual({ city: 'Oslo' });
    expect(formats()).toEqual([FORMAT, undefined]);
  });
});

describe('an execute call with an output schema', () => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

  test('overrides the output of the definition', async () => {
    scripts(answer('{"ok": true}'));
    const response = await post('execute', { prompt: 'Well?', output_schema: schema });
    expect(await response.json()).toMatchObject({ output: { ok: true } });
    expect(formats()).toEqual([{ type: 'json_schema', json_schema: { name: 'output', schema } }]);
  });

  test('applies to a background run', async () => {
    scripts(answer('{"ok": false}'));
    const { data } = await tenant.graphql(
      `mutation ($bot: ID!, $schema: JSON!) {
        execute(botId: $bot, input: { prompt: "Well?", outputSchema: $schema, background: true }) { id output }
      }`,
      { bot, schema },
    );
    expect(data.execute.output).toBeNull();
    const where = { id: data.execute.id };
    await expect
      .poll(async () => (await app.prisma.run.findUniqueOrThrow({ where })).output)
      .toEqual({ ok: false });
  });

  test('is part of the request that an idempotency key identifies', async () => {
    app.upstream.script(answer('{"ok": true, "city": "Oslo"}'));
    const headers = { 'idempotency-key': 'schema' };
    const body = { prompt: 'Well?', output_schema: schema };
    const first = await (await post('execute', body, headers)).json();
    expect(await (await post('execute', body, headers)).json()).toEqual(first);
    const other = await post('execute', { prompt: 'Well?' }, headers);
    expect((await other.json()).error.code).toBe('idempotency_conflict');
  });

  test.each([
    ['is not an object', 5, 'must be an object'],
    ['is not the schema of an object', { type: 'string' }, 'must be the schema of an object'],
    [
      'is over 16 KiB',
      { type: 'object', description: 'x'.repeat(16_384) },
      'must not be larger than 16 KiB',
    ],
  ])('is refused if the schema %s', async (_what, output_schema, message) => {
    const response = await post('execute', { prompt: 'Well?', output_schema });
    expect(response.status).toBe(400);
    expect((await response.json()).error.details).toEqual([
      { path: 'output_schema', message: expect.stringContaining(message) },
    ]);
    expect(app.upstream.requests).toEqual([]);
  });
});

test('an answer of blank lines after a fence is read without hanging', () => {
  const schema: JsonObject = { type: 'object' };
  const beginning = `\`\`\`json${'\n'.repeat(1_000_000)}`;
  expect(readOutput(schema, `${beginning}x`)).toEqual({ problem: 'must be JSON' });
  expect(readOutput(schema, `${beginning}{"ok": true}\n\`\`\``)).toMatchObject({
    output: { ok: true },
  });
});

test('a reply without an output has no output field', async () => {
  app.upstream.script(answer('Hello.'));
  const plain = await tenant.bot('channel web');
  const response = await tenant.chat(plain, { message: 'Hi' });
  expect(Object.keys(await response.json())).not.toContain('output');
  expect(formats()).toEqual([undefined]);
});
