import { setTimeout as delay } from 'node:timers/promises';
import { startDeadline } from '../deadline.ts';
import { assembleAnswer } from './answer.ts';
import { writeBody } from './body.ts';
import { readChunks } from './chunks.ts';
import { describe, RefusedRequest, ReportedError } from './failure.ts';
import { createPooledFetch, type ModelFetch } from './fetch.ts';
import {
  createLearnedForms,
  firstForm,
  guessForm,
  type LearnedForms,
  nextForm,
  type RequestForm,
} from './learned.ts';
import type { Model, ModelEvent, ModelRequest } from './model.ts';
import { createAnswerBudget } from './pieces.ts';
import { createPost } from './post.ts';
import { isRetryable, retryDelay } from './retry.ts';

/** OpenAI's own server. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** Sent to a server that needs no key, because the client requires one. */
export const NO_KEY = 'none';

const RETRY_DELAY_MS = 500;
/** Requests of one call that are repeated in another form. */
const MAX_REPEATS = 8;

/** An OpenAI-compatible server. */
export type OpenAIOptions = {
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
}: OpenAIOptions): Model {
  const post = createPost({ apiKey, baseUrl, fetch });
  const initialForm = firstForm(baseUrl);

  /** One attempt. Emits text as it arrives, then tool calls, then `finish`. */
  const attempt = async (request: ModelRequest, body: Body, emit: Emit, signal: AbortSignal) => {
    const { budget = createAnswerBudget(), timeout } = request;
    const answer = assembleAnswer(budget);
    const emitText = (text: string) => {
      if (text) emit({ type: 'text-delta', text });
    };
    const response = await post(body, { signal, timeout });
    const isDone = await readChunks(response, budget, (chunk) => emitText(answer.add(chunk)));
    const { text, calls, finish, failure } = answer.end(isDone);
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
    let form = known;
    let isGuess = false;
    let hasRetried = false;
    for (let attempts = 1; ; attempts += 1) {
      const body = writeBody(request, form);
      let hasEmitted = false;
      const onEvent = (event: ModelEvent) => {
        hasEmitted = true;
        emit(event.type === 'finish' && attempts > 1 ? { ...event, attempts } : event);
      };
      try {
        await attempt(request, body, onEvent, signal);
        // A guess may be wrong, so only this call keeps it.
        const worked = isGuess ? { ...form, output: known.output } : form;
        if (form !== known) learned.learn(owner, request.model, worked);
        return;
      } catch (error) {
        if (hasEmitted) throw error;
        const next = attempts <= MAX_REPEATS && otherForm(form, error, { known, request, body });
        if (next) {
          isGuess ||= next.isGuess;
          form = next.form;
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
    nameFor: (requested) => requested ?? defaultModel,
    fallbacks,

    async stream(request, emit, signal) {
      using deadline = startDeadline(request.timeout, { signal });
      try {
        await attemptAll(request, emit, deadline.signal);
      } catch (error) {
        if (!signal.aborted) throw describe(error, deadline.signal.aborted, apiKey);
      }
    },
  };
}

type Emit = (event: ModelEvent) => void;
type Body = ReturnType<typeof writeBody>;

/** The form for the next request, if the server refused a part of this one that has another form. */
function otherForm(
  form: RequestForm,
  error: unknown,
  { known, request, body }: { known: RequestForm; request: ModelRequest; body: Body },
): { form: RequestForm; isGuess: boolean } | undefined {
  if (!(error instanceof RefusedRequest || error instanceof ReportedError)) return undefined;
  const members = new Set(Object.keys(body).filter((name) => body[name] !== undefined));
  const reasoning = request.messages.some((one) => one.role === 'assistant' && one.reasoning);
  const named = nextForm(form, error, { members, reasoning });
  // A server that refuses both names of the token limit refuses its value.
  const isUndone = named?.tokenLimit === known.tokenLimit && form.tokenLimit !== known.tokenLimit;
  if (named) return isUndone ? undefined : { form: named, isGuess: false };
  const guess = guessForm(form, error, { members });
  return guess && { form: guess, isGuess: true };
}
