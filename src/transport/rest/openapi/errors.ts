import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_STATUS, type ErrorCode, readErrorCode } from '../../../errors.ts';
import { errorReply } from '../replies.ts';
import type { Route } from '../route.ts';
import { exampleId } from '../wire.ts';
import { exampleOf } from './example.ts';
import { COMMON_HEADERS, FAILED_RUN, RETRY_AFTER } from './headers.ts';

/** What every code means. */
export const ERROR_MEANING: Record<ErrorCode, string> = {
  invalid_json: 'The body is not valid JSON.',
  invalid_request: 'Something in the request is missing or wrong; `details` names all of it.',
  request_too_large: 'The body is larger than 1 MiB.',
  bot_not_deployed: 'Nothing is deployed to this environment of the bot.',
  idempotency_conflict: 'Another request was sent under the same `Idempotency-Key`.',
  deployment_not_deployable: 'This deployment has never run, so nothing can go back to it.',
  session_busy: 'The session is busy with other messages.',
  missing_api_key: 'The request has no API key.',
  invalid_api_key: 'The API key is not known, has expired or was revoked.',
  bot_access_denied: 'The key has no access to this bot.',
  insufficient_scope: 'The key lacks the scope that this takes.',
  bot_not_found: 'There is no such bot.',
  deployment_not_found: 'The bot has no such deployment.',
  run_not_found: 'The bot has no such run.',
  not_found: 'There is no such route.',
  rate_limit_exceeded:
    'A limit of the account is reached: its requests, its active runs, its waiting background runs or its open streams. `retry_after` and `Retry-After` say how long to wait.',
  internal_error: 'Something went wrong on our side.',
  model_error: "The model's server refused, or could not be reached.",
  model_timeout: "The model's server took too long.",
  interrupted: 'The process that worked on the run has died.',
};

/** What any request may be refused with, whatever it asks for. */
const OF_ANY_REQUEST: ErrorCode[] = [
  'invalid_request',
  'missing_api_key',
  'invalid_api_key',
  'bot_access_denied',
  'bot_not_found',
  'rate_limit_exceeded',
  'internal_error',
];

/** Every code that a route may refuse with, in the order of the closed list. */
function codesOf({ input, scope, errors }: Route): ErrorCode[] {
  const codes = new Set([...OF_ANY_REQUEST, ...errors]);
  if (scope) codes.add('insufficient_scope');
  if (input.body) codes.add('invalid_json').add('request_too_large');
  return Object.keys(ERROR_STATUS)
    .map(readErrorCode)
    .filter((code) => codes.has(code));
}

/** What a route answers when it refuses, by status: which codes, each with an example. */
export function errorResponses(route: Route): Record<string, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(codesOf(route), (code) => ERROR_STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      errorResponse(status, codes, fieldOf(route)),
    ]),
  );
}

/** @param field what the example of an invalid request is about. */
export function errorResponse(
  status: number,
  codes: ErrorCode[],
  field?: string,
): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_MEANING[code]}`).join('\n\n'),
    headers: {
      ...COMMON_HEADERS,
      ...(status === 429 && RETRY_AFTER),
      ...(codes.includes('model_error') && FAILED_RUN),
    },
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            {
              type: 'object',
              additionalProperties: true,
              properties: {
                error: {
                  type: 'object',
                  additionalProperties: true,
                  properties: { code: { enum: codes } },
                },
              },
            },
          ],
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { value: exampleOfError(code, field) }]),
        ),
      },
    },
  };
}

function exampleOfError(code: ErrorCode, field: string | undefined) {
  const problem = { path: field ?? '', message: 'is not what it must be' };
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

/** A field of what the route takes, which may be wrong. */
function fieldOf({ input: { body, query } }: Route): string | undefined {
  return Object.keys(
    query?.shape ?? z.record(z.string(), z.unknown()).catch({}).parse(exampleOf(body)),
  )[0];
}
