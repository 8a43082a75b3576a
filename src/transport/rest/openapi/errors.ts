import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_STATUS, type ErrorCode, readErrorCode } from '../../../errors/errors.ts';
import { errorReply } from '../replies.ts';
import type { Route } from '../route.ts';
import { exampleId } from '../wire.ts';
import { exampleOf } from './example.ts';
import { COMMON_HEADERS, FAILED_RUN, headersOf, RETRY_AFTER } from './headers.ts';

/** Explanations of the error codes, for the OpenAPI document and the reference page. */
export const ERROR_MEANING: Record<ErrorCode, string> = {
  invalid_json: 'The body is not valid JSON.',
  invalid_request: 'The request is invalid. `details` lists every problem.',
  request_too_large: 'The body is larger than 1 MiB, or the response could be larger than 16 MiB.',
  bot_not_deployed: 'The bot has no active deployment in this environment.',
  idempotency_conflict: 'A different request was already sent with this `Idempotency-Key`.',
  deployment_not_deployable: 'The deployment never succeeded, so it cannot be deployed again.',
  definition_invalid: 'The definition has errors. Only with `strict`.',
  session_busy: 'The session is busy with another message.',
  search_too_broad:
    'A search for a text takes longer than 2 seconds. GraphQL only: no route searches texts.',
  missing_api_key: 'The request has no API key.',
  invalid_api_key: 'The API key is unknown, expired or revoked.',
  bot_access_denied: 'The API key has no access to this bot.',
  insufficient_scope: 'The API key lacks the required scope.',
  bot_not_found: 'The bot does not exist.',
  deployment_not_found: 'The deployment does not exist.',
  run_not_found: 'The run does not exist.',
  not_found: 'The route does not exist.',
  rate_limit_exceeded:
    'The account reached a limit: requests, active runs, queued background runs or open streams. `retry_after` and the header `Retry-After` give the time to wait.',
  internal_error:
    'An internal error occurred. If the database is not available, `Retry-After` gives the time to wait.',
  model_error: "The model's server returned an error or could not be reached.",
  model_timeout: "The model's server did not respond in time.",
  content_filtered: "A content filter of the model's server removed the reply.",
  interrupted: 'The process that executed the run stopped unexpectedly.',
};

/** Error codes of every route. */
const OF_ANY_REQUEST: ErrorCode[] = [
  'invalid_request',
  'request_too_large',
  'missing_api_key',
  'invalid_api_key',
  'bot_access_denied',
  'bot_not_found',
  'rate_limit_exceeded',
  'internal_error',
];

/** Every error code of a route, in the order of `ERROR_STATUS`. */
function codesOf({ input, scope, errors }: Route): ErrorCode[] {
  const codes = new Set([...OF_ANY_REQUEST, ...errors]);
  if (scope) codes.add('insufficient_scope');
  if (input.body) codes.add('invalid_json');
  return Object.keys(ERROR_STATUS)
    .map(readErrorCode)
    .filter((code) => codes.has(code));
}

/** Error responses of a route by status, with an example for each code. */
export function errorResponses(route: Route): Record<string, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(codesOf(route), (code) => ERROR_STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      errorResponse(status, codes, { field: fieldOf(route), refusal: route.refusalSchema }),
    ]),
  );
}

/**
 * @param field the invalid field in the example of `invalid_request`.
 * @param refusal the schema of a body with other fields besides the error. It has the code `definition_invalid`.
 */
export function errorResponse(
  status: number,
  codes: ErrorCode[],
  { field, refusal }: { field?: string | undefined; refusal?: z.ZodType | undefined } = {},
): ZodOpenApiResponseObject {
  const isRefusal = (code: ErrorCode) => refusal !== undefined && code === 'definition_invalid';
  const schema = errorSchema(codes.filter((code) => !isRefusal(code)));
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_MEANING[code]}`).join('\n\n'),
    headers: {
      ...COMMON_HEADERS,
      ...(status === 429 && RETRY_AFTER),
      ...(codes.includes('model_error') && FAILED_RUN),
      ...(codes.some(isRefusal) && headersOf(['Idempotency-Replayed'])),
    },
    content: {
      'application/json': {
        schema: codes.some(isRefusal) ? { anyOf: [schema, referenceTo(refusal)] } : schema,
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            { value: isRefusal(code) ? exampleOf(refusal) : exampleOfError(code, field) },
          ]),
        ),
      },
    },
  };
}

/** A reference to a schema among the components of the document. */
function referenceTo(schema: z.ZodType | undefined) {
  return { $ref: `#/components/schemas/${schema?.meta()?.id}` };
}

function errorSchema(codes: ErrorCode[]) {
  return {
    allOf: [
      { $ref: '#/components/schemas/Error' },
      {
        type: 'object' as const,
        additionalProperties: true,
        properties: {
          error: {
            type: 'object' as const,
            additionalProperties: true,
            properties: { code: { enum: codes } },
          },
        },
      },
    ],
  };
}

function exampleOfError(code: ErrorCode, field: string | undefined) {
  const problem = { path: field ?? '', message: 'is invalid' };
  const isAboutField = code === 'invalid_request' && field !== undefined;
  return errorReply.parse({
    error: {
      code,
      message: isAboutField ? `${problem.path}: ${problem.message}` : ERROR_MEANING[code],
      ...(code === 'rate_limit_exceeded' && { retry_after: 21 }),
      ...(isAboutField && { details: [problem] }),
      request_id: exampleId('req'),
    },
  });
}

/** The first field of the route's query or body. */
function fieldOf({ input: { body, query } }: Route): string | undefined {
  const fields = z.record(z.string(), z.unknown()).catch({}).parse(exampleOf(body));
  return Object.keys({ ...query.shape, ...fields })[0];
}
