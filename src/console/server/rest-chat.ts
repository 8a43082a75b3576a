import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Call, Step } from './call.ts';
import { noteAway, noteHere } from './connection.ts';
import { AWAY, type Problem, problemFrom, problemIn } from './problem.ts';
import { restKey } from './rest-key.ts';
import { asHeaderValue, restRequest } from './rest-request.ts';
import { ChatProblem, type Reading } from './stream-chat.ts';
import { stepsOfWhole } from './whole-chat.ts';

const NO_KEY: Problem = {
  code: 'NO_KEY',
  message: 'REST needs an API key. Type one, or create one for an hour.',
  details: [],
};

/**
 * Sends the documented REST request of a call, with the key of this tab and without the session's cookie.
 *
 * @returns the id of a run whose stream was cut before its end.
 * @throws ChatProblem
 */
export async function* sendByRest(
  call: Call,
  { signal, recording }: Reading,
): AsyncGenerator<Step, { runId: string } | undefined> {
  const secret = restKey.get()?.secret;
  if (!secret) throw new ChatProblem(NO_KEY);
  const { path, headers, body } = restRequest(call);
  const response = await recording
    .fetch(path, {
      method: 'POST',
      headers: [
        ['Authorization', `Bearer ${secret}`],
        ...headers.map(([name, value]): [string, string] => [name, asHeaderValue(value)]),
      ],
      body,
      credentials: 'omit',
      signal,
    })
    .catch((error: unknown) => {
      if (signal.aborted) return undefined;
      noteAway();
      throw new ChatProblem(AWAY, { cause: error });
    });
  if (!response) return undefined;
  noteHere();
  if (!response.ok) throw new ChatProblem(await problemFrom(response));
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (isStream && response.body) return yield* readFrames(response.body, response.headers, signal);
  const reply = (await response.json()) as RestReply;
  yield* stepsOfWhole({
    runId: reply.run_id,
    response: reply.response,
    toolsCalled: reply.tools_called,
    latencyMs: reply.latency_ms,
    tokensUsed: reply.tokens_used,
  });
  return undefined;
}

type RestReply = {
  response: string;
  run_id: string;
  latency_ms: number;
  tokens_used: number;
  tools_called: string[];
};

type Frame =
  | { event?: undefined; delta: string }
  | { event: 'error'; error: { code: string; message: string; request_id: string } }
  | { event: 'done'; run_id: string; latency_ms: number; status?: 'failed' | 'cancelled' };

const ENDS = { failed: 'failed', cancelled: 'stopped' } as const;

async function* readFrames(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  headers: Headers,
  signal: AbortSignal,
): AsyncGenerator<Step, { runId: string } | undefined> {
  const runId = headers.get('x-run-id');
  if (runId) yield { type: 'started', runId };
  let problem: Problem | undefined;
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  try {
    for await (const { data } of events) {
      const frame = JSON.parse(data) as Frame;
      if (frame.event === undefined) yield { type: 'text', text: frame.delta };
      else if (frame.event === 'error') {
        const { message, request_id: requestId } = frame.error;
        problem = { ...problemIn(frame.error, message), requestId };
      } else {
        const state = frame.status ? ENDS[frame.status] : 'done';
        yield { type: 'ended', state, latencyMs: frame.latency_ms, problem };
        return undefined;
      }
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!runId) throw new ChatProblem(AWAY, { cause: error });
  }
  return runId && !signal.aborted ? { runId } : undefined;
}
