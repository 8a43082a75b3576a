import type { RequestBody } from './body.ts';
import { RefusedRequest, type ReportedError } from './failure.ts';
import type { RequestForm } from './form.ts';
import type { WireMessage } from './messages.ts';
import type { Problem } from './problem.ts';
import { REASONING_MEMBERS } from './reasoning.ts';
import { findRefused, refusalOf } from './refusals.ts';

/** The statuses of a refused request. Some servers answer 500 where others answer 400. */
const REFUSALS = [400, 422, 500];

/** Whether a failure refuses the request, by its status and by the status that its description holds. */
function isRefusal(error: RefusedRequest | ReportedError): boolean {
  const statuses = [error instanceof RefusedRequest ? error.status : 400, error.problem.status];
  return statuses.every((status) => status === undefined || REFUSALS.includes(status));
}

/**
 * The form to try after a server refused a request with 400, 422 or 500, or reported an error before any text.
 *
 * @param sent the refused request.
 * @returns `undefined` if the refusal names nothing that has another form.
 */
export function nextForm(
  form: RequestForm,
  error: RefusedRequest | ReportedError,
  sent: RequestBody,
): RequestForm | undefined {
  if (!isRefusal(error)) return undefined;
  const { names, message } = error.problem;
  const isNamed = (member: string) => namesMember(error.problem, member);
  if (sent[form.tokenLimit] !== undefined && isNamed(form.tokenLimit)) {
    const other = form.tokenLimit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    if (!isOfValue(message) || message.includes(other)) return { ...form, tokenLimit: other };
  }
  // The default effort is refused, too, so the member need not have been sent.
  if (sent.tools && isNamed('reasoning_effort') && /\btools\b/i.test(message)) {
    if (!form.toolsWithoutReasoning) return { ...form, toolsWithoutReasoning: true };
  }
  const refused = findRefused(sent, isNamed);
  if (refused) return withRefusal(form, refused, sent);
  if (REASONING_MEMBERS.some(isNamed)) {
    const isMissing = /must be passed|missing|required/i.test(message);
    if (isMissing && form.reasoning !== 'always') return { ...form, reasoning: 'always' };
    if (!isMissing && sent.messages.some(hasReasoning)) return { ...form, reasoning: 'none' };
  }
  if (sent.response_format && (isNamed('response_format') || isOfOutput(error))) {
    return withRefusal(form, 'response_format', sent);
  }
  const isOfTools = [...names, message].some((text) => /tool|function/i.test(text));
  const hasCalls = !sent.tools && sent.messages.some(({ role }) => role === 'tool');
  return isOfTools && hasCalls ? { ...form, callsWithoutTools: 'text' } : undefined;
}

/** Whether a server names a member beside its message, or, if it names nothing there, in its message. */
function namesMember({ names, message }: Problem, member: string): boolean {
  return names.length > 0
    ? names.some((name) => name === member || name.startsWith(`${member}.`))
    : new RegExp(`(?<![A-Za-z0-9_])${member}(?![A-Za-z0-9_])`).test(message);
}

function withRefusal(
  form: RequestForm,
  member: Parameters<typeof refusalOf>[0],
  sent: RequestBody,
): RequestForm {
  return { ...form, refusals: [...form.refusals, refusalOf(member, sent)] };
}

/** Whether a server refuses the value of a limit, not its name. */
function isOfValue(message: string): boolean {
  return /too (large|high|big|small|low)|(max|min)imum|at (most|least)|exceed|(less|greater) than|must be|<=|>=/i.test(
    message,
  );
}

/** Whether a server that names no member probably refuses the structured answer. */
function isOfOutput(error: RefusedRequest | ReportedError): boolean {
  const { names, message } = error.problem;
  if (!(error instanceof RefusedRequest) || names.length > 0) return false;
  return /schema|json|grammar|response.?format/i.test(message) && !/tool|function/i.test(message);
}

/**
 * Whether a request with a structured answer may be repeated once without it, although the server did not name the
 * reason of its refusal.
 */
export function mayRefuseOutput(error: RefusedRequest | ReportedError, sent: RequestBody): boolean {
  const isUnnamed = error.problem.names.length === 0 && isRefusal(error);
  const status = error instanceof RefusedRequest ? error.status : undefined;
  return isUnnamed && (status === 400 || status === 422) && sent.response_format !== undefined;
}

function hasReasoning(message: WireMessage): boolean {
  return message.role === 'assistant' && REASONING_MEMBERS.some((member) => message[member]);
}
