import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOpenAIModel } from '../../src/model/openai.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Script, startUpstream, type Upstream } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});
beforeEach(() => {
  app.upstream.requests.length = 0;
});

const answers =
  (status: number, body = '{}'): Script =>
  ({ response }) =>
    void response.writeHead(status, { 'retry-after-ms': '1' }).end(body);
const finish: Script = ({ say, end }) => {
  say('Done.');
  end();
};

/** Scripts each model by its name. A model without a script replies. */
const scripts = (byModel: Record<string, Script>, { script }: Pick<Upstream, 'script'>) =>
  script((exchange) => (byModel[exchange.request.body.model] ?? finish)(exchange));

const asked = (upstream: Upstream) => upstream.requests.map(({ body }) => body.model);

const chat = async (of: TestApp, by: Tenant, members: string) => {
  const bot = await by.bot(members);
  const response = await by.chat(bot, { message: 'Hi' });
  const body = await response.json();
  const id = response.headers.get('x-run-id') ?? '';
  return { body, run: await of.prisma.run.findUniqueOrThrow({ where: { id } }) };
};

const MODEL = 'model "a" { fallback "b", "c" }';

describe('a failed model call', () => {
  test.each<[string, Script, number]>([
    ['500', answers(500), 2],
    ['429', answers(429), 2],
    ['404, as the model is gone', answers(404), 1],
    ['a lost connection', ({ response }) => void response.destroy(), 2],
    ['an incomplete answer', ({ response }) => void response.writeHead(200).end(), 2],
  ])('with %s is repeated with the next model after its retry', async (_what, script, calls) => {
    scripts({ a: script }, app.upstream);
    const { body, run } = await chat(app, tenant, MODEL);
    expect(body.response).toBe('Done.');
    expect(asked(app.upstream)).toEqual([...Array(calls).fill('a'), 'b']);
    expect(run).toMatchObject({ status: 'COMPLETED', model: 'b', tokensEstimated: false });
  });

  test('is repeated with each model in turn, and each attempt is in the trace', async () => {
    scripts({ a: answers(404), b: answers(503) }, app.upstream);
    const { run } = await chat(app, tenant, MODEL);
    expect(asked(app.upstream)).toEqual(['a', 'b', 'b', 'c']);
    expect(run.model).toBe('c');
    const spans = run.spans as { name: string; attributes: Record<string, unknown> }[];
    const calls = spans.filter(({ name }) => name.startsWith('chat '));
    expect(calls.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
      ['chat a', 'model_error'],
      ['chat b', 'model_error'],
      ['chat c', undefined],
    ]);
  });

  test('fails the run with the reason of the last model, if no model answers', async () => {
    scripts(
      { a: answers(500), b: answers(404), c: answers(503, '{"error":"The last."}') },
      app.upstream,
    );
    const { body, run } = await chat(app, tenant, MODEL);
    expect(body.error.message).toBe("The model's server answered 503.");
    expect(run).toMatchObject({
      status: 'FAILED',
      model: 'a',
      errorDetail: 'HTTP 503: The last.',
    });
  });

  test.each<[string, Script]>([
    ['400', answers(400)],
    ['401', answers(401)],
    ['403', answers(403)],
    ['422', answers(422)],
    [
      'a refusal within the answer',
      ({ response }) =>
        void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('data: {"error":{"message":"No","code":400}}\n\n'),
    ],
    [
      'its text',
      ({ say, cut }) => {
        say('Half');
        cut();
      },
    ],
  ])('with %s is not repeated', async (_what, script) => {
    scripts({ a: script }, app.upstream);
    const { body, run } = await chat(app, tenant, MODEL);
    expect(body.error.code).toBe('model_error');
    expect(asked(app.upstream)).toEqual(['a']);
    expect(run.status).toBe('FAILED');
  });

  test('makes the next model serve the rest of the run', async () => {
    let calls = 0;
    scripts(
      {
        a: answers(404),
        b: (exchange) => {
          calls += 1;
          return calls === 1 ? exchange.call(['time_now', {}]) : finish(exchange);
        },
      },
      app.upstream,
    );
    const { run } = await chat(app, tenant, `${MODEL}\n  tools time`);
    expect(asked(app.upstream)).toEqual(['a', 'b', 'b']);
    expect(run).toMatchObject({ model: 'b', promptTokens: 24 });
  });
});

const deltas =
  (finish: string | undefined, ...list: object[]): Script =>
  ({ response, cut }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const delta of list) {
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
    }
    if (finish === undefined) return cut();
    const choices = [{ index: 0, delta: {}, finish_reason: finish }];
    response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
  };

/** Scripts a model's calls in order. The last script serves all further calls. */
const inOrder = (...list: Script[]): Script => {
  let call = 0;
  return (exchange) => {
    const script = list[Math.min(call, list.length - 1)];
    call += 1;
    return script?.(exchange);
  };
};

describe('the next model', () => {
  const signed = (id: string, by: string) => ({
    reasoning_content: `Thoughts of ${by}.`,
    tool_calls: [
      {
        index: 0,
        id,
        function: { name: 'time_now', arguments: '{}' },
        extra_content: { signature: `Signed by ${by}.` },
      },
    ],
  });

  test('gets neither the reasoning nor the unknown members of calls of the model before it', async () => {
    scripts(
      {
        a: inOrder(deltas('tool_calls', signed('x', 'a')), answers(404)),
        b: inOrder(deltas('tool_calls', signed('y', 'b')), finish),
      },
      app.upstream,
    );
    const bot = await tenant.bot(`${MODEL}\n  tools time`);
    const session = { 'x-session-id': 's' };
    const response = await tenant.chat(bot, { message: 'Hi' }, session);
    expect(await response.json()).toMatchObject({ response: 'Done.' });
    expect(asked(app.upstream)).toEqual(['a', 'a', 'b', 'b']);
    const [, , first, second] = app.upstream.requests.map(({ body }) => JSON.stringify(body));
    expect(first).toContain('"id":"x"');
    expect(first).not.toMatch(/Thoughts|Signed/);
    expect(second).toMatch(/Signed by b.*Thoughts of b/);
    expect(second).not.toMatch(/(Thoughts of|Signed by) a/);

    // A later turn begins with the first model, which must not get the members of the second one.
    scripts({}, app.upstream);
    await tenant.chat(bot, { message: 'And now?' }, session);
    const later = JSON.stringify(app.upstream.requests.at(-1)?.body);
    expect(later).toContain('Signed by a.');
    expect(later).not.toContain('Signed by b.');
  });

  test('gives a structured reply if the model before it fails in the middle of one', async () => {
    scripts(
      {
        a: deltas(undefined, { content: '{"city":' }),
        b: deltas('stop', { content: '{"city":"Ulm"}' }),
      },
      app.upstream,
    );
    const { body, run } = await chat(app, tenant, `${MODEL}\n  output { city string }`);
    expect(body.output).toEqual({ city: 'Ulm' });
    expect(asked(app.upstream)).toEqual(['a', 'b']);
    expect(run).toMatchObject({ status: 'COMPLETED', model: 'b', response: '{"city":"Ulm"}' });
  });

  test('is not the run’s model if it fails, too, after another one has answered', async () => {
    scripts(
      {
        a: inOrder(({ call }) => call(['time_now', {}]), answers(404)),
        b: answers(404),
        c: answers(404),
      },
      app.upstream,
    );
    const { run } = await chat(app, tenant, `${MODEL}\n  tools time`);
    expect(run).toMatchObject({ status: 'FAILED', model: 'a' });
  });

  test('is the run’s model if it fails after its first text', async () => {
    scripts({ a: answers(404), b: deltas(undefined, { content: 'Half' }) }, app.upstream);
    const { run } = await chat(app, tenant, MODEL);
    expect(run).toMatchObject({ status: 'FAILED', model: 'b', response: 'Half' });
  });
});

test('the operator’s fallback models serve definitions without any', async () => {
  const upstream = await startUpstream();
  await using server = { [Symbol.asyncDispose]: upstream.close };
  const model = createOpenAIModel({
    baseUrl: upstream.baseUrl,
    defaultModel: 'standard',
    fallbacks: ['other', 'standard', 'third'],
    retryDelayMs: 1,
  });
  const own = await startApp({ model });
  const by = await own.tenant();
  scripts({ standard: answers(404), a: answers(404), b: answers(404) }, upstream);
  expect((await chat(own, by, '')).run.model).toBe('other');
  expect((await chat(own, by, 'model "third" { fallback "a" }')).run.model).toBe('third');
  expect((await chat(own, by, 'model "a" { fallback "b" }')).run.status).toBe('FAILED');
  expect(asked(upstream)).toEqual(['standard', 'other', 'third', 'a', 'b']);
  expect(server).toBeDefined();
});
