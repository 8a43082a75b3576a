import { z } from 'zod';
import type { WireAnswer } from './wire.ts';

/** Every error code and its status, from the API document and not from the server's own table. */
export const DOCUMENTED_STATUS: Record<string, number> = {
  invalid_json: 400,
  invalid_request: 400,
  request_too_large: 400,
  unsupported_content: 400,
  unsupported_parameter: 400,
  not_last: 400,
  bot_not_deployed: 400,
  deployment_not_deployable: 400,
  definition_invalid: 400,
  idempotency_conflict: 400,
  session_busy: 400,
  already_decided: 400,
  tool_gone: 400,
  search_too_broad: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  bot_access_denied: 403,
  insufficient_scope: 403,
  model_not_found: 404,
  bot_not_found: 404,
  deployment_not_found: 404,
  run_not_found: 404,
  evaluation_not_found: 404,
  approval_not_found: 404,
  not_found: 404,
  rate_limit_exceeded: 429,
  internal_error: 500,
  model_error: 500,
  model_timeout: 500,
  content_filtered: 500,
};

const errorBody = z.strictObject({
  error: z.strictObject({
    code: z.enum(Object.keys(DOCUMENTED_STATUS)),
    message: z.string().regex(/\S/),
    retry_after: z.int().min(1).optional(),
    details: z.array(z.strictObject({ path: z.string(), message: z.string().min(1) })).optional(),
    request_id: z.string(),
    // The members of OpenAI's API, only below its paths.
    type: z.string().optional(),
    param: z.string().nullable().optional(),
  }),
});

/** The type of an error of OpenAI's API, by the status. Source: the specification of the entrances, section 1. */
const OPENAI_TYPE: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
};

export type WireError = z.infer<typeof errorBody>['error'];

/** Internals that no response may reveal: source locations and database messages. */
const INTERNALS = /node_modules|\.ts:\d|\bat \w+ \(|prisma|\bselect\b.*\bfrom\b|postgres/i;

/**
 * Checks an error response against the documented form: its status, its headers and its whole body.
 *
 * @param limited whether the response must have rate-limit headers, as every response below `/v1` has.
 * @returns the error.
 */
export function readError({ status, headers, body }: WireAnswer, limited = true): WireError {
  const wrong = (what: string): Error =>
    new Error(`${what}: ${status} ${JSON.stringify(Object.fromEntries(headers))} ${body}`);
  const read = errorBody.safeParse(parse(body));
  if (!read.success) throw wrong(z.prettifyError(read.error));
  const { error } = read.data;
  if (DOCUMENTED_STATUS[error.code] !== status) throw wrong('The status does not match the code');
  if (headers.get('content-type') !== 'application/json; charset=utf-8') throw wrong('Not JSON');
  if (headers.get('x-request-id') !== error.request_id) throw wrong('The request ids differ');
  if (INTERNALS.test(error.message)) throw wrong('The message reveals internals');
  if ((error.type === undefined) !== (error.param === undefined)) throw wrong('Neither form');
  if (error.type !== undefined && error.type !== OPENAI_TYPE[status])
    throw wrong('The type does not match the status');
  if (limited) assertLimits(headers, wrong);
  const retryAfter = status === 429 ? String(error.retry_after) : null;
  if (headers.get('retry-after') !== retryAfter)
    throw wrong('The Retry-After header does not match');
  if ((status === 429) !== (error.retry_after !== undefined))
    throw wrong('The retry_after member does not match');
  return error;
}

/** Checks the three rate-limit headers. Source: the API document, "Limits". */
export function assertLimits(headers: Headers, wrong = (what: string) => new Error(what)): void {
  for (const name of ['limit', 'remaining', 'reset']) {
    const value = headers.get(`x-ratelimit-${name}`);
    if (!/^\d+$/.test(value ?? '')) throw wrong(`X-RateLimit-${name} is ${value}`);
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
