import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { type Asker, createAsker } from './asker.ts';

let app: TestApp;
let asker: Asker;
let bot: string;

beforeAll(async () => {
  app = await startApp();
  const tenant = await app.tenant();
  asker = await createAsker(app, tenant.apiKey);
  bot = await tenant.bot();
});

const PATH = '/chat/completions';
const user = (content: unknown) => ({ role: 'user', content });
const call = (id: string, more = {}) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{}', ...more },
});
const refusal = (more: object) =>
  asker.refusal(PATH, { body: { model: bot, messages: [user('Hi')], ...more } });

const tool = { type: 'function', function: { name: 'mine', parameters: {} } };

describe('a parameter that no bot offers is refused with its name', () => {
  test.each([
    ['tools', { tools: [tool] }],
    ['tools', { tools: 'all' }],
    ['functions', { functions: [tool.function] }],
    ['tool_choice', { tool_choice: 'required' }],
    ['tool_choice', { tool_choice: { type: 'function', function: { name: 'mine' } } }],
    ['function_call', { function_call: { name: 'mine' } }],
    ['n', { n: 2 }],
    ['n', { n: '1' }],
    ['logprobs', { logprobs: true }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['audio', { audio: { voice: 'alloy', format: 'wav' } }],
    ['prediction', { prediction: { type: 'content', content: 'Hello' } }],
  ])('%s %j', async (param, more) => {
    expect(await refusal(more)).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      type: 'invalid_request_error',
      param,
      message: expect.stringMatching(new RegExp(`^${param}: .`)),
    });
  });

  test('and an error names all of them', async () => {
    const { message } = await refusal({ n: 2, tools: [tool], audio: {} });
    expect(message).toMatch(/^tools: .*; n: .*; audio: /);
  });
});

describe('content that is not text is refused with its place', () => {
  test.each([
    ['image_url', { image_url: { url: 'data:image/png;base64,AA' } }],
    ['input_audio', { input_audio: { data: 'AA', format: 'wav' } }],
    ['file', { file: { file_id: 'f' } }],
    ['toString', {}],
  ])('%s', async (type, more) => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type, ...more },
    ];
    expect(await refusal({ messages: [user(content)] })).toMatchObject({
      status: 400,
      code: 'unsupported_content',
      param: 'messages.0.content.1',
      message: `messages.0.content.1: a part of the type "${type}" is not text`,
    });
  });

  test('also in the history, and an error names all parts', async () => {
    const image = [{ type: 'image_url' }];
    const { code, message } = await refusal({ messages: [user(image), user('So?'), user(image)] });
    expect(code).toBe('unsupported_content');
    expect(message).toMatch(/messages\.0\.content\.0.*messages\.2\.content\.0/);
  });
});

describe('an invalid request names the member', () => {
  const many = Array.from({ length: 501 }, () => user('Hi'));
  test.each<[what: string, more: object, param: string, message: RegExp]>([
    ['no model', { model: undefined }, 'model', /is required/],
    ['a model that is a number', { model: 5 }, 'model', /must be a string/],
    ['no messages', { messages: undefined }, 'messages', /is required/],
    [
      'an empty list of messages',
      { messages: [] },
      'messages',
      /must end with a message of the user/,
    ],
    ['501 messages', { messages: many }, 'messages', /500/],
    ['a message that is a string', { messages: ['Hi'] }, 'messages.0', /must be an object/],
    [
      'an unknown role',
      { messages: [{ role: 'bot', content: 'Hi' }] },
      'messages.0.role',
      /must be/,
    ],
    [
      'a last message of the assistant',
      { messages: [user('Hi'), { role: 'assistant', content: 'Hello' }] },
      'messages',
      /must end with a message of the user/,
    ],
    ['an empty message', { messages: [user('')] }, 'messages.0.content', /must not be empty/],
    [
      'content that is a number',
      { messages: [user(5)] },
      'messages.0.content',
      /a string or a list/,
    ],
    [
      'a part without a text',
      { messages: [user([{ type: 'text' }])] },
      'messages.0.content.0',
      /text/,
    ],
    ['U+0000', { messages: [user('a\u0000')] }, 'messages.0.content', /U\+0000/],
    [
      'an answer to no call',
      { messages: [{ role: 'tool', tool_call_id: 'c', content: '1' }, user('Hi')] },
      'messages.0.tool_call_id',
      /answers no open call/,
    ],
    [
      'a call without an answer, behind a message of the system',
      {
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'assistant', tool_calls: [call('c')] },
          user('Hi'),
        ],
      },
      'messages.1',
      /has no answer to the call c/,
    ],
    [
      'a call without a name',
      { messages: [{ role: 'assistant', tool_calls: [call('c', { name: '' })] }, user('Hi')] },
      'messages.0.tool_calls.0.name',
      /must not be empty/,
    ],
    [
      'a system message without content',
      { messages: [{ role: 'system' }, user('Hi')] },
      'messages.0.content',
      /is required/,
    ],
    [
      'instructions in two places',
      { messages: [{ role: 'system', content: 'A' }, user('Hi')], context: { instructions: 'B' } },
      'context.instructions',
      /must be absent/,
    ],
    ['a context that is a list', { context: [] }, 'context', /must be/],
    [
      'an unknown format',
      { response_format: { type: 'xml' } },
      'response_format.type',
      /"json_schema"/,
    ],
    [
      'a schema of a list',
      { response_format: { type: 'json_schema', json_schema: { schema: { type: 'array' } } } },
      'response_format.json_schema.schema',
      /object/,
    ],
    [
      'no schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
      'response_format.json_schema.schema',
      /./,
    ],
    ['a stream that is a string', { stream: 'yes' }, 'stream', /must be a boolean/],
    ['a session id of spaces', { metadata: { session_id: ' ' } }, 'metadata.session_id', /./],
    ['metadata that is a list', { metadata: [] }, 'metadata', /must be/],
    [
      'an environment against the header',
      { model: 'MODEL:staging' },
      'model',
      /must name the environment of the header/,
    ],
  ])('%s', async (_what, more, param, message) => {
    const headers = { 'x-environment': 'production' };
    const body = { model: bot, messages: [user('Hi')], ...more };
    expect(await asker.refusal(PATH, { body, headers })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      type: 'invalid_request_error',
      param,
      message: expect.stringMatching(message),
    });
  });

  test('and more than 1 MiB of history is too large', async () => {
    const messages = [user('x'.repeat(1024 * 1024)), user('Hi')];
    expect(await refusal({ messages })).toMatchObject({ status: 400, code: 'request_too_large' });
  });
});
