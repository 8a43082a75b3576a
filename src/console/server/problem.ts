import type { CombinedError } from 'urql';
import { isRecord } from './record.ts';

/** Why a request failed, in a form that a screen can show. */
export type Problem = {
  /** The server's code, such as `BOT_NOT_FOUND`, or `AWAY` if it did not answer. */
  code: string;
  message: string;
  /** The server's id of the request, for its log. */
  requestId?: string | undefined;
  /** The run that failed, if one had started. */
  runId?: string | undefined;
  /** Seconds after which the request may succeed. */
  retryAfter?: number | undefined;
  /** The problem of each input field, by its path. */
  details: { path: string; message: string }[];
  /** The problems of a definition that the server refused. */
  diagnostics?: DefinitionProblem[];
};

/** A problem of a definition, with its place: lines and columns from 1, the end exclusive. */
export type DefinitionProblem = {
  severity: 'ERROR' | 'WARNING';
  code: string;
  message: string;
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
};

export const AWAY: Problem = {
  code: 'AWAY',
  message: 'Parley does not answer. Check that it runs and that you are online.',
  details: [],
};

export const COOKIES_BLOCKED: Problem = {
  code: 'COOKIES_BLOCKED',
  message:
    'This browser did not keep the cookie of the session. Allow cookies for this address, then sign in again.',
  details: [],
};

/** Whether the session has ended, so that only a new sign-in helps. */
export function isSessionEnd({ code }: Problem): boolean {
  return code === 'MISSING_API_KEY' || code === 'INVALID_API_KEY';
}

/** Whether the bot does not exist, or is outside the account or the key. Another try has the same result. */
export function isMissingBot({ code }: Problem): boolean {
  return code === 'BOT_NOT_FOUND' || code === 'BOT_ACCESS_DENIED';
}

/** Converts the error of a GraphQL request. */
export function problemOf({ graphQLErrors, response }: CombinedError): Problem {
  const [first] = graphQLErrors;
  const requestId = response instanceof Response ? headerOf(response) : undefined;
  if (!first) return { ...AWAY, requestId };
  return { ...problemIn(first.extensions, first.message), requestId };
}

/** Converts the error of any answer: its code, its message and its further fields. */
export function problemIn(fields: Record<string, unknown>, message: string): Problem {
  // REST and the session have the name of their wire format.
  const { code, retryAfter = fields.retry_after, details, diagnostics, runId } = fields;
  return {
    code: typeof code === 'string' ? code.toUpperCase() : 'INTERNAL_ERROR',
    message,
    runId: typeof runId === 'string' ? runId : undefined,
    retryAfter: typeof retryAfter === 'number' ? retryAfter : undefined,
    details: Array.isArray(details) ? details.filter(isDetail) : [],
    ...(Array.isArray(diagnostics) && { diagnostics: diagnostics.filter(isDefinitionProblem) }),
  };
}

/** The problem of one input field. */
export function detailFor(problem: Problem | undefined, path: string): string | undefined {
  return problem?.details.find((detail) => detail.path === path)?.message;
}

/** Reads the error of a response: the first error of a GraphQL response, or the error of any other interface. */
export async function problemFrom(response: Response): Promise<Problem> {
  const answer: unknown = await response.json().catch(() => null);
  const { error, errors } = isRecord(answer) ? answer : {};
  const found = Array.isArray(errors) ? errors[0] : error;
  const { extensions, ...fields } = isRecord(found) ? found : {};
  const message = typeof fields.message === 'string' ? fields.message : response.statusText;
  const problem = problemIn(isRecord(extensions) ? extensions : fields, message);
  const runId = problem.runId ?? response.headers.get('x-run-id') ?? undefined;
  return { ...problem, runId, requestId: headerOf(response) };
}

function headerOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

function isDetail(value: unknown): value is Problem['details'][number] {
  return typeof value === 'object' && value !== null && 'path' in value && 'message' in value;
}

function isDefinitionProblem(value: unknown): value is DefinitionProblem {
  if (!isRecord(value)) return false;
  const { severity, line, column, endLine, endColumn } = value;
  const isPlaced = [line, column, endLine, endColumn].every((place) => typeof place === 'number');
  return isPlaced && (severity === 'ERROR' || severity === 'WARNING') && 'message' in value;
}
