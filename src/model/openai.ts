import { setTimeout as delay } from 'node:timers/promises';
import { startDeadline } from '../async/deadline.ts';
import { leftOutOf, type RequestBody, writeBody } from './body.ts';
import { describe, RefusedRequest, ReportedError } from './failure.ts';
import { createPooledFetch, type ModelFetch } from './fetch.ts';
import { firstForm, type RequestForm } from './form.ts';
import { createLearnedForms, type LearnedForms } from './learned.ts';
import type { Model, ModelEvent, ModelRequest } from './model.ts';
import { mayRefuseOutput, nextForm } from './next-form.ts';
import { createAnswerBudget } from './pieces.ts';
import { type CallerIdentity, createPost } from './post.ts';
import { readAnswer } from './read-answer.ts';
import { isRetryable, retryDelay } from './retry.ts';

/** OpenAI's own server. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** Sent to a server that needs no key, because the client requires one. */
export const NO_KEY = 'none';

const RETRY_DELAY_MS = 500;
/** Requests of one call that are repeated in another form. */
const MAX_REPEATS = 8;

/** An OpenAI-compatible server. */
export type OpenAIOptions = CallerIdentity & {
  /** Optional: some self-hosted servers need none. */
  apiKey?: string | undefined;
  baseUrl?: string | undefined;
  /** Used if a definition names no model. */
  defaultModel: string;
  /** Tried in order after a failed call, if a definition names no other ones. */
  fallbacks?: readonly string[] | undefined;
  /** Sends the requests; by default over a connection pool of this model. */
  fetch?: ModelFetch;
  /** Milliseconds before a retry, if the server requests no other delay. */
  retryDelayMs?: number;
  /** The forms that work; by default those that this model learns. */
  learned?: LearnedForms;
};

/** A model behind OpenAI's chat completions API. It always streams and requests the usage in the stream. */
export function createOpenAIModel({
  apiKey = NO_KEY,
  baseUrl = OPENAI_BASE_URL,
  defaultModel,
  fallbacks,
  fetch = createPooledFetch(),
  retryDelayMs = RETRY_DELAY_MS,
  learned = createLearnedForms(),
  ...identity
}: OpenAIOptions): Model {
  const post = createPost({ apiKey, baseUrl, fetch, ...identity });
  const initialForm = firstForm(baseUrl);

  /** One attempt. Emits text as it arrives, then tool calls, then `finish`. */
  const attempt = async (
    request: ModelRequest,
    body: RequestBody,
    emit: Emit,
    signal: AbortSignal,
  ) => {
    const { budget = createAnswerBudget(), timeout, onResponse } = request;
    const emitText = (text: string) => {
      if (text) emit({ type: 'text-delta', text });
    };
    const response = await post(body, { signal, timeout, onResponse });
    const { text, calls, finish, failure } = await readAnswer(response, budget, emitText);
    emitText(text);
    if (!failure) for (const call of calls) emit({ type: 'tool-call', call });
    emit({ type: 'finish', ...finish });
    if (failure) throw failure;
  };

  /** Repeats the request until its form is one that the server accepts, and retries it once. */
  const attemptAll = async (request: ModelRequest, emit: Emit, signal: AbortSignal) => {
    const startedAt = performance.now();
    const owner = { accountId: request.accountId, baseUrl };
    const known = learned.find(owner, request.model) ?? initialForm;
    let sent: Attempt = { request, form: known };
    let hasRetried = false;
    for (let attempts = 1; ; attempts += 1) {
      const body = writeBody(sent.request, sent.form);
      let hasEmitted = false;
      const onEvent = (event: ModelEvent) => {
        hasEmitted = true;
        if (event.type === 'finish' && attempts > 1) event.attempts = attempts;
        const isPlain = sent.form === initialForm && sent.request === request;
        if (event.type === 'finish' && !isPlain) {
          event.leftOut = leftOutOf(request, body, initialForm.tokenLimit);
        }
        emit(event);
      };
      try {
        await attempt(sent.request, body, onEvent, signal);
        if (sent.form !== known) learned.learn(owner, request.model, sent.form);
        return;
      } catch (error) {
        if (hasEmitted) throw error;
        const next = attempts <= MAX_REPEATS && nextAttempt(sent, known, error, body);
        if (next) {
          sent = next;
          continue;
        }
        const wait = retryDelay(error, retryDelayMs);
        const isLate =
          wait === undefined || wait > request.timeout - (performance.now() - startedAt);
        if (hasRetried || isLate || !isRetryable(error)) throw error;
        hasRetried = true;
        await delay(wait, undefined, { signal });
      }
    }
  };

  return {
    provider: 'openai',
    server: { host: hostOf(baseUrl), hasKey: apiKey !== NO_KEY },
    nameFor: (requested) => requested ?? defaultModel,
    fallbacks,

    async stream(request, emit, signal) {
      using deadline = startDeadline(request.timeout, { signal });
      // An answer that is complete but for its tail may end at an abort.
      const emitUnlessAborted = (event: ModelEvent) => {
        if (!signal.aborted) emit(event);
      };
      try {
        await attemptAll(request, emitUnlessAborted, deadline.signal);
      } catch (error) {
        if (!signal.aborted) throw describe(error, deadline.signal.aborted, apiKey);
      }
    },
  };
}

function hostOf(baseUrl: string): string {
  const { protocol = '', host = '' } = URL.parse(baseUrl) ?? {};
  return /^https?:$/.test(protocol) ? host : '';
}

type Emit = (event: ModelEvent) => void;
/** A request as the definition sets it, and the form in which it is written. */
type Attempt = { request: ModelRequest; form: RequestForm };

/** The next attempt, if the server refused a part of the request that can be left out or has another form. */
function nextAttempt(
  { request, form }: Attempt,
  known: RequestForm,
  error: unknown,
  body: RequestBody,
): Attempt | undefined {
  if (!(error instanceof RefusedRequest || error instanceof ReportedError)) return undefined;
  const next = nextForm(form, error, body);
  if (next) {
    // A server that refuses both names of the token limit refuses its value.
    const isUndone = next.tokenLimit === known.tokenLimit && form.tokenLimit !== known.tokenLimit;
    return isUndone ? undefined : { request, form: next };
  }
  // Without a reason, only this call goes without the structured answer.
  return mayRefuseOutput(error, body)
    ? { request: { ...request, outputSchema: undefined }, form }
    : undefined;
}
