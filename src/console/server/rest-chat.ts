import type { Call, Step } from './call.ts';
import { noteAway, noteHere } from './connection.ts';
import { AWAY, type Problem, problemFrom } from './problem.ts';
import { stepsOfFrames } from './rest-frames.ts';
import { asHeaderValue, restRequest, withKey } from './rest-request.ts';
import { followByRest } from './rest-run.ts';
import { ChatProblem, type Reading } from './stream-chat.ts';
import { stepsOfWhole } from './whole-chat.ts';

const NO_KEY: Problem = {
  code: 'NO_KEY',
  message: 'REST needs an API key. Type one, or create one for an hour.',
  details: [],
};

/**
 * Sends the documented REST request of a call without the session's cookie. A stream that is cut is read to its end by the
 * events of its run.
 *
 * @param secret the API key.
 * @throws ChatProblem
 */
export async function* sendByRest(
  call: Call,
  secret: string | undefined,
  reading: Reading,
): AsyncGenerator<Step, void> {
  if (!secret) throw new ChatProblem(NO_KEY);
  const { signal, recording } = reading;
  const { path, headers, body } = restRequest(call);
  const encoded = headers.map(([name, value]): [string, string] => [name, asHeaderValue(value)]);
  const response = await recording
    .fetch(path, { method: 'POST', ...withKey(secret, encoded), body, signal })
    .catch((error: unknown) => {
      if (signal.aborted) return undefined;
      noteAway();
      throw new ChatProblem(AWAY, { cause: error });
    });
  if (!response) return;
  noteHere();
  if (!response.ok) throw new ChatProblem(await problemFrom(response));
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (isStream && response.body) {
    const { botId } = call;
    const unfinished = yield* readReply(response.body, response.headers, signal);
    if (unfinished) yield* followByRest({ botId, runId: unfinished, secret }, reading);
    return;
  }
  const reply = (await response.json()) as RestReply;
  yield* stepsOfWhole({
    runId: reply.run_id,
    response: reply.response,
    toolsCalled: reply.tools_called,
    latencyMs: reply.latency_ms,
    tokensUsed: reply.tokens_used,
  });
}

type RestReply = {
  response: string;
  run_id: string;
  latency_ms: number;
  tokens_used: number;
  tools_called: string[];
};

/** @returns the id of a run whose stream was cut before its end. */
async function* readReply(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  headers: Headers,
  signal: AbortSignal,
): AsyncGenerator<Step, string | undefined> {
  const runId = headers.get('x-run-id') ?? undefined;
  if (runId) yield { type: 'started', runId };
  try {
    for await (const { step } of stepsOfFrames(body)) {
      yield step;
      if (step.type === 'ended') return undefined;
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!runId) throw new ChatProblem(AWAY, { cause: error });
  }
  return signal.aborted ? undefined : runId;
}
