import { LRUCache } from 'lru-cache';
import { RefusedRequest, type ReportedError } from './failure.ts';
import { REASONING_MEMBERS } from './reasoning.ts';

/** Members of a request that are left out if a server refuses them. */
const OPTIONAL = [
  'stream_options',
  'temperature',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
] as const;

export type OptionalMember = (typeof OPTIONAL)[number];

/** How a request is written for one model of one server. */
export type RequestForm = {
  tokenLimit: 'max_tokens' | 'max_completion_tokens';
  /** How a structured answer is requested. The prompt holds its schema, too. */
  output: 'json_schema' | 'json_object' | 'none';
  leftOut: readonly OptionalMember[];
  /** Whether the model calls tools only while it does not reason, as the newer models of OpenAI over this API. */
  toolsWithoutReasoning: boolean;
  /** `none`: the server refuses it. `always`: the server requires it on each message of the model. */
  reasoning: 'sent' | 'none' | 'always';
};

/** A server as one account uses it. An account learns nothing from the calls of another one. */
export type FormOwner = { accountId: string | undefined; baseUrl: string };

/** Remembers the forms that worked, for a day: at most 1,000, each for one model of one server and account. */
export type LearnedForms = {
  find(owner: FormOwner, model: string): RequestForm | undefined;
  learn(owner: FormOwner, model: string, form: RequestForm): void;
};

const MAX_ENTRIES = 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** @param now a clock in milliseconds, for tests. */
export function createLearnedForms({ now = () => performance.now() } = {}): LearnedForms {
  const forms = new LRUCache<string, RequestForm>({
    max: MAX_ENTRIES,
    ttl: DAY_MS,
    // Without a resolution, the cache would read the clock again only after a timer.
    ttlResolution: 0,
    perf: { now },
  });
  const keyOf = ({ accountId, baseUrl }: FormOwner, model: string) =>
    JSON.stringify([accountId, baseUrl, model]);
  return {
    find: (owner, model) => forms.get(keyOf(owner, model)),
    learn: (owner, model, form) => void forms.set(keyOf(owner, model), form),
  };
}

/** Only OpenAI's own servers require the newer name of the token limit. */
export function firstForm(baseUrl: string): RequestForm {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  const isOpenAI = /(^|\.)openai\.(com|azure\.com)$/.test(host);
  return {
    tokenLimit: isOpenAI ? 'max_completion_tokens' : 'max_tokens',
    output: 'json_schema',
    leftOut: [],
    toolsWithoutReasoning: false,
    reasoning: 'sent',
  };
}

/** The statuses of a refused request. Some servers answer 500 where others answer 400. */
const REFUSALS = [400, 422, 500];

const OUTPUT_FORMS = { json_schema: 'json_object', json_object: 'none', none: undefined } as const;

/**
 * The form to try after a server refused a request with 400, 422 or 500, or reported an error before any text.
 *
 * @param sent the members of the refused request, and whether it held reasoning.
 * @returns `undefined` if the refusal names nothing that has another form.
 */
export function nextForm(
  form: RequestForm,
  error: RefusedRequest | ReportedError,
  sent: { members: ReadonlySet<string>; reasoning: boolean },
): RequestForm | undefined {
  if (error instanceof RefusedRequest && !REFUSALS.includes(error.status)) return undefined;
  const { names, message } = error.problem;
  const isNamed = (member: string) =>
    names.length > 0
      ? names.some((name) => name === member || name.startsWith(`${member}.`))
      : new RegExp(`(?<![A-Za-z0-9_])${member}(?![A-Za-z0-9_])`).test(message);
  const isRefused = (member: string) => sent.members.has(member) && isNamed(member);
  if (isRefused(form.tokenLimit)) {
    const other = form.tokenLimit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    return { ...form, tokenLimit: other };
  }
  // The default effort is refused, too, so the member need not have been sent.
  if (sent.members.has('tools') && isNamed('reasoning_effort') && /\btools\b/i.test(message)) {
    if (!form.toolsWithoutReasoning) return { ...form, toolsWithoutReasoning: true };
  }
  const refused = OPTIONAL.find(isRefused);
  if (refused) return { ...form, leftOut: [...form.leftOut, refused] };
  if (REASONING_MEMBERS.some(isNamed)) {
    const isMissing = /must be passed|missing|required/i.test(message);
    if (isMissing && form.reasoning !== 'always') return { ...form, reasoning: 'always' };
    if (!isMissing && sent.reasoning) return { ...form, reasoning: 'none' };
  }
  const output = OUTPUT_FORMS[form.output];
  return isRefused('response_format') && output ? { ...form, output } : undefined;
}

/**
 * The form to try after a server refused a request with a structured answer and did not name the reason. It may be the
 * schema, which servers refuse in many words.
 */
export function guessForm(
  form: RequestForm,
  error: RefusedRequest | ReportedError,
  sent: { members: ReadonlySet<string> },
): RequestForm | undefined {
  const output = OUTPUT_FORMS[form.output];
  const isRefusal = error instanceof RefusedRequest && [400, 422].includes(error.status);
  const isUnnamed = isRefusal && error.problem.names.length === 0;
  return isUnnamed && sent.members.has('response_format') && output
    ? { ...form, output }
    : undefined;
}
