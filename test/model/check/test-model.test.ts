import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEgress } from '../../../src/egress/egress.ts';
import { MODEL_CHECKS } from '../../../src/model/check/model-check.ts';
import { type ModelTestOptions, testModel } from '../../../src/model/check/test-model.ts';
import { DEFINITIONS_SERVER, OPERATORS_SERVER } from '../../../src/model/check/tested-server.ts';
import { createOpenAIModel } from '../../../src/model/openai.ts';

const KEY = 'sk-canary-0123456789';
const CERTIFICATE = readFileSync('test/fixtures/self-signed.pem');
/** Milliseconds of a test whose server never answers. */
const SHORT_MS = 3_000;

type Body = {
  tools?: { function: { name: string } }[];
  temperature?: number;
  max_tokens?: number;
  response_format?: object;
};

/** Answers a request with a body of JSON. */
type Answer = (body: Body, response: ServerResponse) => void;

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    if ('closeAllConnections' in server) (server.closeAllConnections as () => void)();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const parsing =
  (answer: Answer): RequestListener =>
  async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body !== undefined) answer(JSON.parse(body), response);
  };

/** The address of a model server that answers each request in the same way. */
async function serve(answer: Answer): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(parsing(answer)))}/v1`;
}

const refuse =
  (status: number, body: unknown, type = 'application/json'): Answer =>
  (_body, response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const refuseWith = (status: number, message: string) => refuse(status, { error: { message } });

const chunk = (delta: object, rest: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...rest }] })}\n\n`;

const CALL = {
  tool_calls: [
    { index: 0, id: 'c', function: { name: 'report_status', arguments: '{"status":"ready"}' } },
  ],
};
const USAGE = { prompt_tokens: 12, completion_tokens: 3 };

/** Answers as a good server does: with a call of the tool, or with JSON. */
const answerWell: Answer = ({ tools }, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk(tools ? CALL : { content: '{"status": "ready"}' }));
  response.write(chunk({}, { finish_reason: tools ? 'tool_calls' : 'stop' }));
  response.write(`data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\n`);
  response.end('data: [DONE]\n\n');
};

const MARKS = { PASSED: '✓', FAILED: '✗', SKIPPED: '-' };

/** Tests the server at an address. @returns its checks as text, without the skipped ones and the port. */
async function reportOf(
  baseUrl: string,
  options: Partial<ModelTestOptions> = {},
  model: Partial<Parameters<typeof createOpenAIModel>[0]> = {},
): Promise<string> {
  const server = { ...OPERATORS_SERVER, name: new URL(baseUrl).host, hasKey: true };
  const checks = await testModel(
    createOpenAIModel({ apiKey: KEY, baseUrl, defaultModel: 'luna', retryDelayMs: 1, ...model }),
    { server, ...options },
    new AbortController().signal,
  );
  expect(checks.map(({ name }) => name)).toEqual(MODEL_CHECKS);
  const lines = checks.flatMap(({ name, status, message, advice }) =>
    status === 'SKIPPED'
      ? []
      : [`${MARKS[status]} ${name}  ${message}`, ...(advice ? [`  → ${advice}`] : [])],
  );
  const report = lines.join('\n');
  expect(report).not.toContain(KEY);
  return report.replace(/127\.0\.0\.1:\d+/g, 'HOST').replace('EAI_AGAIN', 'ENOTFOUND');
}

describe('the test of a model server', () => {
  test('passes each check of a good server', async () => {
    expect(await reportOf(await serve(answerWell))).toMatchInlineSnapshot(`
      "✓ REACHABLE  HOST answers.
      ✓ API_KEY  The server accepts the API key.
      ✓ MODEL  The server knows the model "luna".
      ✓ STREAMING  The answer arrives as a stream.
      ✓ TOOLS  The model calls tools.
      ✓ JSON_OUTPUT  The model answers with JSON.
      ✓ USAGE  The server reports its tokens: 12 of the prompt, 3 of the answer.
      ✓ PARAMETERS  The server refuses none of the settings in the requests."
    `);
  });

  test('says that the key is wrong, without the key', async () => {
    const message = `Incorrect API key provided: ${KEY}.`;
    expect(await reportOf(await serve(refuseWith(401, message)))).toMatchInlineSnapshot(`
      "✓ REACHABLE  The server answers.
      ✗ API_KEY  HOST refuses the API key (HTTP 401): Incorrect API key provided: [API key].
        → Check that the key in OPENAI_API_KEY is complete, is not revoked, and belongs to this provider."
    `);
  });

  test('says that a key is required', async () => {
    const server = { ...OPERATORS_SERVER, name: 'The model server', hasKey: false };
    const url = await serve(refuseWith(401, 'You did not provide an API key.'));
    expect(await reportOf(url, { server }, { apiKey: undefined })).toMatchInlineSnapshot(`
      "✓ REACHABLE  The server answers.
      ✗ API_KEY  The model server requires an API key (HTTP 401): You did not provide an API key.
        → Set OPENAI_API_KEY."
    `);
  });

  test('says that the model is unknown', async () => {
    const url = await serve(refuseWith(404, 'model "luna" not found, try pulling it first'));
    expect(await reportOf(url)).toMatchInlineSnapshot(`
      "✓ REACHABLE  The server answers.
      ✓ API_KEY  The server did not refuse the API key.
      ✗ MODEL  HOST does not know the model "luna" (HTTP 404): model "luna" not found, try pulling it first
        → Check the spelling in OPENAI_MODEL, and that the server has the model. Ollama lists its models with: ollama list."
    `);
    const other = await serve(refuseWith(400, 'luna is not a valid model ID'));
    expect(await reportOf(other)).toMatchInlineSnapshot(`
      "✓ REACHABLE  The server answers.
      ✓ API_KEY  The server did not refuse the API key.
      ✗ MODEL  HOST does not know the model "luna" (HTTP 400): luna is not a valid model ID
        → Check the spelling in OPENAI_MODEL, and that the server has the model. Ollama lists its models with: ollama list."
    `);
  });

  test('says that the path is wrong', async () => {
    const url = await serve(refuse(404, '404 page not found', 'text/plain'));
    expect(await reportOf(url)).toMatchInlineSnapshot(`
      "✗ REACHABLE  HOST has no chat completions at this address (HTTP 404): 404 page not found
        → Check the path in OPENAI_BASE_URL, to which Parley adds /chat/completions: most addresses end in /v1."
    `);
  });

  test('says that nothing listens', async () => {
    const server = createTcpServer();
    const port = await listen(server);
    server.close();
    await once(server, 'close');
    expect(await reportOf(`http://127.0.0.1:${port}/v1`)).toMatchInlineSnapshot(`
      "✗ REACHABLE  HOST refuses the connection (ECONNREFUSED): no program listens there.
        → Start the model server, and check the host and the port in OPENAI_BASE_URL. In a container, localhost is the container itself."
    `);
  });

  test('says that the host has no address', async () => {
    expect(await reportOf('http://parley-test.invalid/v1')).toMatchInlineSnapshot(`
      "✗ REACHABLE  The host name in OPENAI_BASE_URL has no address (ENOTFOUND).
        → Check the spelling of the host in OPENAI_BASE_URL, and the DNS of the machine that runs Parley."
    `);
  });

  test('says that a proxy answers in place of the server', async () => {
    const page = '<html><body><h1>502 Bad Gateway</h1></body></html>';
    const proxy = await serve(refuse(502, page, 'text/html'));
    expect(await reportOf(proxy)).toMatchInlineSnapshot(`
      "✗ REACHABLE  HOST answers with a web page (HTTP 502), not as a model server.
        → A proxy answers, because the model server behind it does not. Start the model server, and check the address to which the proxy forwards."
    `);
    const signIn = await serve(refuse(200, '<!doctype html><title>Sign in</title>', 'text/html'));
    expect(await reportOf(signIn)).toMatchInlineSnapshot(`
      "✗ REACHABLE  HOST answers with a web page (HTTP 200), not as a model server.
        → Check OPENAI_BASE_URL: most addresses end in /v1. If it is right, a proxy or a sign-in page answers in place of the model server."
    `);
  });

  test('says that the address redirects', async () => {
    const url = await serve(refuse(308, ''));
    expect(await reportOf(url)).toMatchInlineSnapshot(`
      "✗ REACHABLE  HOST redirects to another address (HTTP 308).
        → Put that address into OPENAI_BASE_URL, often https: in place of http:."
    `);
  });

  test('says what is wrong with TLS', async () => {
    const tls = { key: CERTIFICATE, cert: CERTIFICATE };
    const port = await listen(createTlsServer(tls, parsing(answerWell)));
    expect(await reportOf(`https://127.0.0.1:${port}/v1`)).toMatchInlineSnapshot(`
      "✗ REACHABLE  The certificate of HOST is not valid (DEPTH_ZERO_SELF_SIGNED_CERT).
        → If your own authority issued it, set NODE_EXTRA_CA_CERTS to the file of its certificate in the environment of Parley (not in .env), and restart."
    `);
    const plain = await serve(answerWell);
    expect(await reportOf(plain.replace('http:', 'https:'))).toMatchInlineSnapshot(`
      "✗ REACHABLE  HOST does not speak TLS at this port (ERR_SSL_WRONG_VERSION_NUMBER).
        → Use http: in place of https: in OPENAI_BASE_URL, or the port of the server that speaks TLS."
    `);
    const report = await reportOf(`http://127.0.0.1:${port}/v1`);
    expect(report).toMatch(/^✗ REACHABLE/);
  });

  test('says that the server does not answer in time', async () => {
    const port = await listen(createTcpServer((socket) => socket.on('error', () => {})));
    const report = await reportOf(`http://127.0.0.1:${port}/v1`, { limitMs: SHORT_MS });
    expect(report).toMatchInlineSnapshot(`
      "✗ REACHABLE  HOST did not answer within 3 seconds.
        → Check the host and the port in OPENAI_BASE_URL, and the firewalls on the way. A server that is still loading the model needs longer: see its log, then test again."
    `);
  });

  test('says that the server streams nothing', async () => {
    const silent = await serve((_body, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    });
    expect(await reportOf(silent, { limitMs: SHORT_MS })).toMatchInlineSnapshot(`
      "✓ REACHABLE  The server answers.
      ✓ API_KEY  The server did not refuse the API key.
      ✓ MODEL  The server did not refuse the model.
      ✗ STREAMING  HOST accepted the request, but sent no answer within 3 seconds.
        → See the log of the model server: it may be overloaded, or still loading the model. A proxy before it may hold back the stream: turn off its buffering."
    `);
    const empty = await serve(refuse(200, '', 'text/event-stream'));
    expect(await reportOf(empty)).toMatchInlineSnapshot(`
      "✓ REACHABLE  The server answers.
      ✓ API_KEY  The server did not refuse the API key.
      ✓ MODEL  The server did not refuse the model.
      ✗ STREAMING  HOST answered (HTTP 200), but its stream ended without a complete answer.
        → See the log or the status page of the model server, then test again. If the log shows a whole answer, a proxy between cuts the stream."
    `);
  });

  test('says that the server refuses or ignores tools, and checks all else', async () => {
    const refusing = await serve((body, response) => {
      const message = 'registry.ollama.ai/library/luna does not support tools';
      if (body.tools) refuseWith(400, message)(body, response);
      else answerWell(body, response);
    });
    expect(await reportOf(refusing)).toMatchInlineSnapshot(`
      "✓ REACHABLE  HOST answers.
      ✓ API_KEY  The server accepts the API key.
      ✓ MODEL  The server knows the model "luna".
      ✓ STREAMING  The answer arrives as a stream.
      ✗ TOOLS  The server refuses tools (HTTP 400): registry.ollama.ai/library/luna does not support tools
        → Bots with tools will not work with this model. vLLM needs --enable-auto-tool-choice and --tool-call-parser, and llama.cpp needs --jinja; otherwise use a model that supports tools.
      ✓ JSON_OUTPUT  The model answers with JSON.
      ✓ USAGE  The server reports its tokens: 12 of the prompt, 3 of the answer.
      ✓ PARAMETERS  The server refuses none of the settings in the requests."
    `);
    const ignoring = await serve((_body, response) => answerWell({}, response));
    expect(await reportOf(ignoring)).toMatchInlineSnapshot(`
      "✓ REACHABLE  HOST answers.
      ✓ API_KEY  The server accepts the API key.
      ✓ MODEL  The server knows the model "luna".
      ✓ STREAMING  The answer arrives as a stream.
      ✗ TOOLS  The model answered with text and did not call the tool of the test.
        → Bots with tools will not work with this model. vLLM needs --enable-auto-tool-choice and --tool-call-parser, and llama.cpp needs --jinja; otherwise use a model that supports tools.
      ✓ JSON_OUTPUT  The model answers with JSON.
      ✓ USAGE  The server reports its tokens: 12 of the prompt, 3 of the answer.
      ✓ PARAMETERS  The server refuses none of the settings in the requests."
    `);
  });

  test('says what a server cannot do: stream, report tokens, JSON, a temperature', async () => {
    const url = await serve((body, response) => {
      if (body.temperature !== undefined)
        return refuseWith(400, "Unsupported parameter: 'temperature'")(body, response);
      const message = body.tools ? CALL : { content: 'Sure! I am ready.' };
      refuse(200, { choices: [{ message, finish_reason: 'stop' }] })(body, response);
    });
    expect(await reportOf(url)).toMatchInlineSnapshot(`
      "✓ REACHABLE  HOST answers.
      ✓ API_KEY  The server accepts the API key.
      ✓ MODEL  The server knows the model "luna".
      ✗ STREAMING  The server sends the answer in one piece, although Parley requests a stream.
        → Readers see a reply only when it is complete. Look for a setting of the server, or of a proxy before it, that turns streaming on.
      ✓ TOOLS  The model calls tools.
      ✗ JSON_OUTPUT  The model did not answer with the JSON object.
        → Definitions with an \`output\` block need another model.
      ✗ USAGE  The server reports no token usage.
        → The tokens of runs are estimates. Look for a setting of the server that reports usage in streams (\`stream_options.include_usage\`).
      ✗ PARAMETERS  The server refuses \`temperature\`, so Parley leaves it out.
        → In definitions, such a setting has no effect with this model."
    `);
  });

  test('says which parts of a request the server refuses, though none is of a definition', async () => {
    const url = await serve((body, response) => {
      const refused = ['max_tokens', 'stream_options'].find((name) => name in body);
      if (refused) refuseWith(400, `Unsupported parameter: '${refused}'`)(body, response);
      else answerWell(body, response);
    });
    expect(await reportOf(url)).toContain(
      '✓ PARAMETERS  The server refuses `max_tokens`, so Parley sends `max_completion_tokens`. The server refuses `stream_options`, so Parley leaves it out.',
    );
  });

  test('says that the quota is used up, and that the server failed', async () => {
    const quota = await serve(refuseWith(429, 'You exceeded your current quota.'));
    expect(await reportOf(quota)).toMatchInlineSnapshot(`
      "✓ REACHABLE  The server answers.
      ✗ API_KEY  HOST accepts no more requests with this key (HTTP 429): You exceeded your current quota.
        → Check the credit, the quota and the rate limits of the key at the provider."
    `);
    const failing = await serve(refuseWith(500, 'CUDA out of memory'));
    expect(await reportOf(failing)).toMatchInlineSnapshot(`
      "✓ REACHABLE  The server answers.
      ✓ API_KEY  The server did not refuse the API key.
      ✓ MODEL  The server did not refuse the model.
      ✗ STREAMING  HOST failed (HTTP 500): CUDA out of memory
        → See the log or the status page of the model server, then test again."
    `);
  });

  test('gives a model that reasons more tokens, and says when they are not enough', async () => {
    const answers = (needed: number) =>
      serve((body, response) => {
        if ((body.max_tokens ?? 0) >= needed) return answerWell(body, response);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(chunk({ reasoning_content: 'Hm.' }, { finish_reason: 'length' }));
      });
    expect(await reportOf(await answers(1_024))).toContain('✓ TOOLS');
    expect(await reportOf(await answers(2_048))).toMatchInlineSnapshot(`
      "✓ REACHABLE  The server answers.
      ✓ API_KEY  The server did not refuse the API key.
      ✓ MODEL  The server did not refuse the model.
      ✗ STREAMING  HOST used all tokens of the test for reasoning.
        → Set \`reasoning none\` or \`reasoning low\` in the model’s block of definitions, or turn off reasoning at the server."
    `);
  });

  test('refuses a private address of a definition', async () => {
    const egress = createEgress({ allowedHosts: [] });
    onTestFinished(egress.close);
    const server = { ...DEFINITIONS_SERVER, hasKey: true };
    const fetch = egress.of('account').fetch;
    const report = await reportOf(await serve(answerWell), { server }, { fetch });
    expect(report).toMatchInlineSnapshot(`
      "✗ REACHABLE  The model server has a private address, which definitions may not use.
        → Use a public address in \`base_url\`, or have the operator of Parley add its host:port to PARLEY_ALLOWED_HOSTS."
    `);
  });

  test('ends with the reason of its signal', async () => {
    const arrived = Promise.withResolvers<void>();
    const url = await serve(() => arrived.resolve());
    const leaving = new AbortController();
    const model = createOpenAIModel({ apiKey: KEY, baseUrl: url, defaultModel: 'luna' });
    const server = { ...OPERATORS_SERVER, name: 'The model server', hasKey: true };
    const ended = testModel(model, { server }, leaving.signal);
    await arrived.promise;
    leaving.abort(new Error('The client left.'));
    await expect(ended).rejects.toThrow('The client left.');
  });
});
