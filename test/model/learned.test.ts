import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { firstForm } from '../../src/model/form.ts';
import { createLearnedForms, type LearnedForms } from '../../src/model/learned.ts';
import type { ModelEvent, ModelMessage, ModelRequest } from '../../src/model/model.ts';
import { createOpenAIModel } from '../../src/model/openai.ts';
import { type Exchange, startUpstream, type Upstream } from '../helpers/upstream.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
beforeEach(() => {
  upstream.requests.length = 0;
});

const MESSAGES: ModelMessage[] = [{ role: 'user', content: 'Hi' }];
const request: ModelRequest = {
  model: 'scripted',
  messages: MESSAGES,
  tools: [{ name: 'f', description: 'F', parameters: { type: 'object', properties: {} } }],
  toolChoice: 'none',
  temperature: 0.5,
  maxTokens: 100,
  outputSchema: { type: 'object' },
  timeout: 60_000,
};

const createModel = (learned?: LearnedForms) =>
  createOpenAIModel({
    baseUrl: upstream.baseUrl,
    defaultModel: 'scripted',
    retryDelayMs: 1,
    ...(learned && { learned }),
  });

const call = (model: ReturnType<typeof createModel>, options: Partial<ModelRequest> = {}) =>
  model
    .stream({ ...request, ...options }, () => {}, new AbortController().signal)
    .then(() => 'answered')
    .catch((error: Error) => error.message);

type Answer = { status: number; body: string; contentType?: string };
const answer = ({ response }: Exchange, { status, body, contentType }: Answer) =>
  void response.writeHead(status, { 'content-type': contentType ?? 'application/json' }).end(body);

/** A server that refuses requests with some member, in its own words. */
const refuses = (has: (body: Record<string, unknown>) => boolean, refusal: Answer) =>
  upstream.script((exchange) =>
    has({ ...exchange.request.body }) ? answer(exchange, refusal) : exchange.end(),
  );
const openai = (param: string | null, message: string): Answer => ({
  status: 400,
  body: JSON.stringify({ error: { message, type: 'invalid_request_error', param, code: 'x' } }),
});
const sent = (member: string) =>
  upstream.requests.map(({ body }) => ({ ...body })[member as keyof typeof body]);

describe('a server that refuses a part of a request', () => {
  test.each<[string, string, Answer]>([
    ['by param', 'temperature', openai('temperature', 'Unsupported value.')],
    [
      'in its message',
      'temperature',
      openai(null, "Unsupported value: 'temperature' does not support 0.5 with this model."),
    ],
    [
      'in FastAPI’s loc',
      'stream_options',
      {
        status: 422,
        body: '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{}}]}',
      },
    ],
    [
      'in a message within Mistral’s error',
      'stream_options',
      {
        status: 422,
        body: '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{}}]},"type":"invalid_request_error","param":null,"code":null}',
      },
    ],
    [
      'in vLLM’s text of a list',
      'stream_options',
      {
        status: 400,
        body: JSON.stringify({
          object: 'error',
          message: "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'input': {}}]",
          code: 400,
        }),
      },
    ],
    [
      'in a list of errors',
      'stream_options',
      {
        status: 400,
        body: '{"error":[{"code":"unrecognized_keys","keys":["stream_options"],"message":"Unrecognized key(s) in object: \'stream_options\'"}]}',
      },
    ],
    ['in plain text', 'tool_choice', { status: 400, body: 'tool_choice is not supported' }],
    ['with 500', 'tool_choice', { status: 500, body: '{"error":"tool_choice: unknown"}' }],
    [
      'in its message, with the param None of Python',
      'temperature',
      {
        status: 400,
        body: '{"error":{"message":"temperature is not supported","param":"None","code":400}}',
      },
    ],
    [
      'in an event',
      'temperature',
      {
        status: 200,
        body: 'data: {"error":{"message":"temperature is not supported","code":400}}\n\n',
        contentType: 'text/event-stream',
      },
    ],
  ])('%s gets it without the part, and the next request, too', async (_how, member, refusal) => {
    refuses((body) => member in body, refusal);
    const model = createModel();
    expect(await call(model)).toBe('answered');
    expect(sent(member).map((value) => value !== undefined)).toEqual([true, false]);
    expect(await call(model)).toBe('answered');
    expect(upstream.requests).toHaveLength(3);
    const last = upstream.requests.at(-1)?.body.tools ?? [];
    expect(last).toHaveLength(member === 'tool_choice' ? 0 : 1);
  });

  // Source of the refusal: github.com/langflow-ai/langflow/issues/14361.
  test('and calls tools only without reasoning gets the effort none with tools alone', async () => {
    const message =
      "Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    refuses(
      ({ tools, reasoning_effort }) => tools !== undefined && reasoning_effort !== 'none',
      openai('reasoning_effort', message),
    );
    const model = createModel();
    expect(await call(model)).toBe('answered');
    expect(await call(model, { reasoningEffort: 'high' })).toBe('answered');
    expect(await call(model, { reasoningEffort: 'high', tools: [] })).toBe('answered');
    expect(sent('reasoning_effort')).toEqual([undefined, 'none', 'none', 'high']);
  });

  // Source of the refusal: github.com/experientiallabs/experiential/issues/764.
  test('and does not know an effort of reasoning gets none', async () => {
    const message =
      "Unsupported value: 'minimal' is not supported with the 'gpt-5.6-luna' model. Supported values are: 'none', 'low', 'medium', 'high', 'xhigh', and 'max'.";
    refuses(
      ({ reasoning_effort }) => reasoning_effort === 'minimal',
      openai('reasoning_effort', message),
    );
    expect(await call(createModel(), { reasoningEffort: 'minimal' })).toBe('answered');
    expect(sent('reasoning_effort')).toEqual(['minimal', undefined]);
  });

  test('gets the parameters of the definition without those that it refuses', async () => {
    refuses(
      ({ parallel_tool_calls }) => parallel_tool_calls !== undefined,
      openai('parallel_tool_calls', 'Unknown parameter.'),
    );
    const parameters = { parallel_tool_calls: false, top_p: 0.9, model: 'other', stream: false };
    expect(await call(createModel(), { parameters })).toBe('answered');
    expect(sent('parallel_tool_calls')).toEqual([false, undefined]);
    expect(sent('top_p')).toEqual([0.9, 0.9]);
    expect(sent('model')).toEqual(['scripted', 'scripted']);
    expect(sent('stream')).toEqual([true, true]);
  });

  test('gets the token limit under its other name', async () => {
    refuses(
      (body) => 'max_tokens' in body,
      openai('max_tokens', "Use 'max_completion_tokens' instead."),
    );
    const model = createModel();
    expect(await call(model)).toBe('answered');
    expect(await call(model)).toBe('answered');
    expect(sent('max_completion_tokens')).toEqual([undefined, 100, 100]);
  });

  test.each([
    'max_tokens is too large: 100. This model supports at most 50 completion tokens.',
    "This model's maximum context length is 50 tokens. You requested 100 (max_tokens).",
  ])('for its value is reported: %s', async (message) => {
    refuses(() => true, openai('max_tokens', message));
    expect(await call(createModel())).toBe("The model's server answered 400.");
    expect(upstream.requests).toHaveLength(1);
  });

  test('under both names is reported', async () => {
    refuses(() => true, openai(null, 'max_tokens or max_completion_tokens is too large: 100.'));
    expect(await call(createModel())).toBe("The model's server answered 400.");
    expect(upstream.requests).toHaveLength(2);
  });

  test('gets a structured answer requested as json_object, then not at all', async () => {
    refuses(
      ({ response_format: format }) => format !== undefined,
      openai('response_format', 'This response_format type is unavailable now'),
    );
    const model = createModel();
    expect(await call(model)).toBe('answered');
    expect(await call(model)).toBe('answered');
    expect(sent('response_format')).toEqual([
      { type: 'json_schema', json_schema: { name: 'output', schema: { type: 'object' } } },
      { type: 'json_object' },
      undefined,
      undefined,
    ]);
  });

  test('without a reason is asked once more without a structured answer, and not remembered', async () => {
    refuses((body) => 'response_format' in body, { status: 400, body: '{"error":{}}' });
    const model = createModel();
    expect(await call(model)).toBe('answered');
    expect(await call(model)).toBe('answered');
    expect(sent('response_format').map((format) => format !== undefined)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  test('for another reason is asked at most once more without a structured answer', async () => {
    refuses(() => true, openai(null, 'The context is too long.'));
    expect(await call(createModel())).toBe("The model's server answered 400.");
    expect(upstream.requests).toHaveLength(2);
  });

  test.each([
    ['by its message', 'Failed to compile the JSON schema into a grammar'],
    ['by its kind in the message', 'json_schema is not a supported type'],
  ])(
    'of a structured answer %s gets the next form each time, and remembers it',
    async (_how, message) => {
      refuses((body) => 'response_format' in body, openai(null, message));
      const model = createModel();
      expect(await call(model)).toBe('answered');
      expect(upstream.requests).toHaveLength(3);
      expect(await call(model)).toBe('answered');
      expect(upstream.requests).toHaveLength(4);
    },
  );

  test('of one tool is not asked for another form of a structured answer more than once', async () => {
    refuses(() => true, openai(null, "Invalid schema for function 'f'"));
    expect(await call(createModel())).toBe("The model's server answered 400.");
    expect(upstream.requests).toHaveLength(2);
  });

  test('leaves out only the values that are refused', async () => {
    refuses(
      ({ temperature }) => Number(temperature) > 2,
      openai('temperature', "Invalid 'temperature': expected a value <= 2."),
    );
    const model = createModel();
    const leftOut: (string[] | undefined)[] = [];
    for (const temperature of [3, 3, 0.5, 4, 3, 4]) {
      const options = { ...request, temperature };
      await model.stream(
        options,
        (event) => event.type === 'finish' && leftOut.push(event.leftOut),
        new AbortController().signal,
      );
    }
    expect(sent('temperature')).toEqual([
      3,
      undefined,
      undefined,
      0.5,
      4,
      undefined,
      undefined,
      undefined,
    ]);
    expect(leftOut.map((names) => names !== undefined)).toEqual([
      true,
      true,
      false,
      true,
      true,
      true,
    ]);
    expect(leftOut[0]).toEqual(['temperature']);
  });

  test('is named by each part that it refuses, also in later calls', async () => {
    const refused: [string, (body: Record<string, unknown>) => boolean][] = [
      ['max_tokens', (body) => 'max_tokens' in body],
      ['stream_options', (body) => 'stream_options' in body],
      ['reasoning_effort', (body) => 'reasoning_effort' in body],
      ['temperature', (body) => 'temperature' in body],
      ['parallel_tool_calls', (body) => 'parallel_tool_calls' in body],
      ['tool_choice', (body) => 'tool_choice' in body],
      ['response_format', (body) => body.response_format !== undefined],
    ];
    upstream.script((exchange) => {
      const [name] = refused.find(([, has]) => has({ ...exchange.request.body })) ?? [];
      if (name) answer(exchange, openai(name, `Unsupported parameter: '${name}'`));
      else exchange.end();
    });
    const model = createModel();
    const all = { ...request, reasoningEffort: 'low', parameters: { parallel_tool_calls: false } };
    const leftOutBy = async (options: ModelRequest) => {
      let names: string[] | undefined;
      const onEvent = (event: ModelEvent) => {
        if (event.type === 'finish') names = event.leftOut;
      };
      await model.stream(options, onEvent, new AbortController().signal);
      return names?.toSorted();
    };
    const names = refused.map(([name]) => name).sort();
    expect(await leftOutBy(all)).toEqual(names);
    expect(await leftOutBy(all)).toEqual(names);
    const { maxTokens, temperature, ...bare } = request;
    const plain = { ...bare, tools: [], outputSchema: undefined };
    expect(await leftOutBy(plain)).toEqual(['stream_options']);
  });

  test('leaves out a part with any value after 8 values are refused', async () => {
    refuses(({ temperature }) => temperature !== undefined, openai('temperature', 'No.'));
    const model = createModel();
    const temperatures = Array.from({ length: 10 }, (_, at) => at / 10);
    for (const temperature of temperatures)
      expect(await call(model, { temperature })).toBe('answered');
    expect(upstream.requests).toHaveLength(10 + 8);
  });

  test('leaves out only the schemas of structured answers that are refused', async () => {
    const bad = { type: 'object', properties: { a: { type: 'nothing' } } };
    refuses(
      (body) => JSON.stringify(body.response_format ?? null).includes('nothing'),
      openai('response_format', "Invalid schema for response_format 'output'."),
    );
    const model = createModel();
    const types = () =>
      sent('response_format').map((format) => (format as { type: string } | undefined)?.type);
    for (const outputSchema of [bad, { type: 'object' }, bad]) {
      expect(await call(model, { outputSchema })).toBe('answered');
    }
    expect(types()).toEqual(['json_schema', 'json_object', 'json_schema', 'json_object']);
  });

  test('may refuse several parts, one after the other', async () => {
    upstream.script((exchange) => {
      const refused = ['temperature', 'stream_options', 'tool_choice', 'max_tokens'].find(
        (member) => member in exchange.request.body,
      );
      if (refused) answer(exchange, openai(refused, 'No.'));
      else exchange.end();
    });
    const model = createModel();
    expect(await call(model)).toBe('answered');
    expect(upstream.requests).toHaveLength(5);
    expect(await call(model)).toBe('answered');
    expect(upstream.requests).toHaveLength(6);
  });

  test.each([
    ['that was not sent', 400, 'seed is not supported'],
    ['as a part of another name', 400, 'my_temperature_2 is not supported'],
    ['of no known request', 400, 'The context is too long.'],
    ['with a status that refuses no part', 403, 'temperature'],
    ['with a status in its body that refuses no part', 400, 'temperature', 402],
  ])('%s is reported', async (_what, status, message, code?: number) => {
    refuses(() => true, { status, body: JSON.stringify({ error: { message, code } }) });
    expect(await call(createModel(), { outputSchema: undefined })).toMatch(/ answered 40[03]\.$/);
    expect(upstream.requests).toHaveLength(1);
  });

  test.each<[string, object]>([
    ['a status', { code: 429 }],
    ['a name', { code: 'rate_limit_exceeded' }],
  ])('for its rate by %s, in an event, is asked again with all parts', async (_what, code) => {
    const error = { message: 'Rate limit reached. Lower max_tokens or temperature.', ...code };
    let count = 0;
    upstream.script((exchange) => {
      count += 1;
      const body = `data: ${JSON.stringify({ error })}\n\n`;
      if (count === 1) answer(exchange, { status: 200, body, contentType: 'text/event-stream' });
      else exchange.end();
    });
    const learned = createLearnedForms();
    expect(await call(createModel(learned))).toBe('answered');
    expect(sent('temperature')).toEqual([0.5, 0.5]);
    expect(sent('max_tokens')).toEqual([100, 100]);
    const owner = { accountId: undefined, baseUrl: upstream.baseUrl };
    expect(learned.find(owner, 'scripted')).toBeUndefined();
  });

  test('after text is reported', async () => {
    upstream.script(({ say, response }) => {
      say('Well');
      response.end('data: {"error":{"message":"temperature"}}\n\n');
    });
    expect(await call(createModel())).toBe("The model's server reported an error.");
    expect(upstream.requests).toHaveLength(1);
  });

  const reasoned: ModelMessage[] = [
    ...MESSAGES,
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }],
      reasoning: { reasoning_content: 'Hm.' },
    },
    { role: 'tool', content: 'done', toolCallId: 'a' },
  ];
  const reasoning = () => upstream.requests.map(({ body }) => body.messages[1]?.reasoning_content);

  test('gets no reasoning back, if it refuses it', async () => {
    refuses(({ messages }) => JSON.stringify(messages).includes('reasoning_content'), {
      status: 422,
      body: '{"detail":[{"loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted"}]}',
    });
    const model = createModel();
    expect(await call(model, { messages: reasoned })).toBe('answered');
    expect(await call(model, { messages: reasoned })).toBe('answered');
    expect(reasoning()).toEqual(['Hm.', undefined, undefined]);
  });

  test('gets reasoning with each message of the model, if it requires it', async () => {
    const messages: ModelMessage[] = [
      ...MESSAGES,
      { role: 'assistant', content: 'Hello', toolCalls: [] },
      ...MESSAGES,
    ];
    refuses(
      ({ messages }) => !JSON.stringify(messages).includes('reasoning_content'),
      openai(null, 'The `reasoning_content` in the thinking mode must be passed back to the API.'),
    );
    const model = createModel();
    expect(await call(model, { messages })).toBe('answered');
    expect(await call(model, { messages })).toBe('answered');
    expect(reasoning()).toEqual([undefined, '', '']);
  });
});

describe('a server that refuses tool_choice', () => {
  const withCalls: ModelMessage[] = [
    ...MESSAGES,
    {
      role: 'assistant',
      content: 'Let me see.',
      toolCalls: [{ id: 'a', name: 'f', arguments: '{"x":1}' }],
    },
    { role: 'tool', content: 'done', toolCallId: 'a' },
  ];
  const refuseChoice = openai('tool_choice', 'No.');

  test('gets the calls of the history without the tools', async () => {
    refuses((body) => 'tool_choice' in body, refuseChoice);
    const model = createModel();
    for (const count of [2, 3]) {
      expect(await call(model, { messages: withCalls })).toBe('answered');
      expect(upstream.requests).toHaveLength(count);
    }
    expect(sent('tools').map((tools) => tools !== undefined)).toEqual([true, false, false]);
    expect(upstream.requests[2]?.body.messages).toEqual(upstream.requests[0]?.body.messages);
  });

  test.each([
    ['the tools that are missing', 'The toolConfig field must be defined when using toolUse.'],
    ['the messages of tools', "Messages with role 'tool' need tools."],
  ])('and %s gets the calls as text, and remembers it', async (_what, message) => {
    upstream.script((exchange) => {
      const { tools, messages } = exchange.request.body;
      if ('tool_choice' in exchange.request.body) return answer(exchange, refuseChoice);
      const hasCalls = messages.some((one) => one.role === 'tool' || one.tool_calls);
      if (!tools && hasCalls) return answer(exchange, openai(null, message));
      exchange.end();
    });
    const model = createModel();
    expect(await call(model, { messages: withCalls })).toBe('answered');
    expect(upstream.requests).toHaveLength(3);
    expect(await call(model, { messages: withCalls })).toBe('answered');
    expect(upstream.requests).toHaveLength(4);
    expect(upstream.requests[3]?.body.messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Let me see.\n\nCall of the tool f: {"x":1}' },
      { role: 'user', content: 'Result of the tool f: done' },
    ]);
    // A request that may call tools has the calls themselves.
    expect(await call(model, { messages: withCalls, toolChoice: undefined })).toBe('answered');
    expect(upstream.requests[4]?.body.messages[1]?.tool_calls).toHaveLength(1);
  });
});

describe('learned forms', () => {
  test('of calls at the same time are all kept', async () => {
    const temperatures = [0.1, 0.2, 0.3];
    const all = Promise.withResolvers<void>();
    upstream.script(async (exchange) => {
      if (upstream.requests.length === temperatures.length) all.resolve();
      await all.promise;
      if ('temperature' in exchange.request.body) answer(exchange, openai('temperature', 'No.'));
      else exchange.end();
    });
    const model = createModel();
    await Promise.all(temperatures.map((temperature) => call(model, { temperature })));
    expect(upstream.requests).toHaveLength(6);
    for (const temperature of temperatures) await call(model, { temperature });
    expect(upstream.requests).toHaveLength(9);
  });

  test('of one account do not apply to another one, or to another model or server', async () => {
    refuses((body) => 'temperature' in body, openai('temperature', 'No.'));
    const learned = createLearnedForms();
    const model = createModel(learned);
    for (const [accountId, name, count] of [
      ['one', 'scripted', 2],
      ['one', 'scripted', 3],
      ['two', 'scripted', 5],
      [undefined, 'scripted', 7],
      ['one', 'other', 9],
      ['one', 'scripted', 10],
    ] as const) {
      expect(await call(model, { accountId, model: name })).toBe('answered');
      expect(upstream.requests).toHaveLength(count);
    }
    expect(learned.find({ accountId: 'one', baseUrl: 'http://other' }, 'scripted')).toBeUndefined();
  });

  test('are kept for a day, the latest 1,000', () => {
    let now = 1_000;
    const learned = createLearnedForms({ now: () => now });
    const form = firstForm('http://a');
    const owner = { accountId: 'one', baseUrl: 'http://a' };
    learned.learn(owner, 'm', form);
    now += 24 * 60 * 60 * 1_000 - 1;
    expect(learned.find(owner, 'm')).toEqual(form);
    now += 2;
    expect(learned.find(owner, 'm')).toBeUndefined();
    for (let count = 0; count <= 1_000; count += 1) learned.learn(owner, `m${count}`, form);
    expect(learned.find(owner, 'm0')).toBeUndefined();
    expect(learned.find(owner, 'm1')).toEqual(form);
  });

  test('of a request that fails in the end are not kept', async () => {
    upstream.script((exchange) =>
      answer(
        exchange,
        'temperature' in exchange.request.body
          ? openai('temperature', 'No.')
          : { status: 401, body: '' },
      ),
    );
    const learned = createLearnedForms();
    await call(createModel(learned));
    const owner = { accountId: undefined, baseUrl: upstream.baseUrl };
    expect(learned.find(owner, 'scripted')).toBeUndefined();
  });

  test.each([
    ['https://api.openai.com/v1', 'max_completion_tokens'],
    ['https://eu.api.openai.com/v1', 'max_completion_tokens'],
    ['https://me.openai.azure.com/openai/v1', 'max_completion_tokens'],
    ['https://openai.com.example/v1', 'max_tokens'],
    ['https://notopenai.com/v1', 'max_tokens'],
    ['http://127.0.0.1:11434/v1', 'max_tokens'],
  ])('begin for %s with %s', (baseUrl, tokenLimit) => {
    expect(firstForm(baseUrl)).toMatchObject({ tokenLimit, refusals: [] });
  });
});
