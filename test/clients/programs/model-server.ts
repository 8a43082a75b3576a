import assert from 'node:assert/strict';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { bot, headers, present, url } from './target.js';

/** The reply of each model server to `HELLO`. */
const HELLO = 'Say hello';
const GREETING = 'Hello, how can I help you today?';

const RUN = `query ($id: ID!) {
  run(id: $id) { response finishReason tokensEstimated completionTokens error { code detail } }
}`;

type Run = {
  response: string | null;
  finishReason: string | null;
  tokensEstimated: boolean;
  completionTokens: number;
  error: { code: string; detail: string | null } | null;
};

const post = (path: string, body: object) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

const runOf = async (id: string | null): Promise<Run> => {
  const response = await post('/graphql', { query: RUN, variables: { id } });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined);
  return data.run;
};

/** Deploys a definition whose model server is this one. @param origin without a path. */
export async function deployWith(origin: string): Promise<void> {
  const agentlang = `agentlang 5

agent "Clerk" {
  description "Answers"
  prompt "You are a clerk."
  model "gpt-4o" { base_url "${origin}/v1" }
  tools time
}
`;
  const deployed = await post(`/v1/bots/${bot}/deploy`, { agentlang });
  const { status, warnings } = await deployed.json();
  assert.deepEqual({ status, warnings }, { status: 'deployed', warnings: [] });
}

/** Sends a message. @returns the reply or error of REST, and the run as it is stored. */
export async function chat(message: string) {
  const response = await post(`/v1/bots/${bot}/chat`, { message });
  const body = await response.json();
  return { body, run: await runOf(response.headers.get('x-run-id')) };
}

/** @throws AssertionError unless the server's text arrives, whole and as a stream. */
export async function assertText(): Promise<Run> {
  const { body, run } = await chat(HELLO);
  assert.equal(body.response, GREETING);
  assert.deepEqual([run.response, run.finishReason, run.error], [GREETING, 'stop', null]);

  const response = await post(`/v1/bots/${bot}/chat/stream`, { message: HELLO });
  const events = present(response.body, 'stream')
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  const deltas: string[] = [];
  for await (const { data } of events) {
    const frame = JSON.parse(data);
    if ('delta' in frame) deltas.push(frame.delta);
  }
  assert.equal(deltas.join(''), GREETING);
  assert.ok(deltas.length > 1, `the text arrived in ${deltas.length} piece`);
  return run;
}

/** @throws AssertionError unless the server's error fails the run, with its reason. */
export async function assertFailure(detail: string): Promise<void> {
  const { body, run } = await chat('Fail');
  assert.equal(body.error.code, 'model_error');
  assert.deepEqual(run.error, { code: 'MODEL_ERROR', detail });
}
