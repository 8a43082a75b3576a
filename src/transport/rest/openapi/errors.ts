import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_CODES, ERRORS, type ErrorCode, GatewayError } from '../../../errors/errors.ts';
import { errorBody } from '../../error-body.ts';
import { openaiError } from '../../openai-error.ts';
import { errorReply, openaiErrorReply } from '../replies.ts';
import type { Route } from '../route.ts';
import { exampleId } from '../wire.ts';
import { exampleOf } from './example.ts';
import { COMMON_HEADERS, FAILED_RUN, headersOf, RETRY_AFTER } from './headers.ts';

/** Explanation of an error code, for the OpenAPI document and the reference page. */
export function meaningOf(code: ErrorCode): string {
  const { meaning, inRest = meaning }: { meaning: string; inRest?: string } = ERRORS[code];
  return inRest;
}

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

/** Every error code of a route, in the order of `ERRORS`. */
function codesOf({ input, scope, errors, isOfBot }: Route): ErrorCode[] {
  const ofAny = OF_ANY_REQUEST.filter((code) => isOfBot || !code.startsWith('bot_'));
  const codes = new Set([...ofAny, ...errors]);
  if (scope) codes.add('insufficient_scope');
  if (input.body) codes.add('invalid_json');
  return ERROR_CODES.filter((code) => codes.has(code));
}

/** Error responses of a route by status, with an example for each code. */
export function errorResponses(route: Route): Record<string, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(codesOf(route), (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      errorResponse(status, codes, {
        field: fieldOf(route),
        refusal: route.refusalSchema,
        isOpenAI: route.tag === 'OpenAI',
      }),
    ]),
  );
}

/**
 * @param field the invalid field in the example of `invalid_request`.
 * @param isOpenAI whether the error has the form of OpenAI's API.
 * @param refusal the schema of a body with other fields besides the error. It has the code `definition_invalid`.
 */
export function errorResponse(
  status: number,
  codes: ErrorCode[],
  {
    field,
    refusal,
    isOpenAI = false,
  }: { field?: string | undefined; refusal?: z.ZodType | undefined; isOpenAI?: boolean } = {},
): ZodOpenApiResponseObject {
  const isRefusal = (code: ErrorCode) => refusal !== undefined && code === 'definition_invalid';
  const schema = errorSchema(
    codes.filter((code) => !isRefusal(code)),
    isOpenAI,
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${meaningOf(code)}`).join('\n\n'),
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
            { value: isRefusal(code) ? exampleOf(refusal) : exampleOfError(code, field, isOpenAI) },
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

function errorSchema(codes: ErrorCode[], isOpenAI: boolean) {
  return {
    allOf: [
      { $ref: `#/components/schemas/${isOpenAI ? 'OpenAIError' : 'Error'}` },
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

function exampleOfError(code: ErrorCode, field: string | undefined, isOpenAI: boolean) {
  const problem = { path: field ?? '', message: 'is invalid' };
  const isAboutField = code === 'invalid_request' && field !== undefined;
  const error = new GatewayError(
    code,
    isAboutField ? `${problem.path}: ${problem.message}` : meaningOf(code),
    {
      ...(code === 'rate_limit_exceeded' && { retryAfter: 21 }),
      ...(isAboutField && { details: [problem] }),
    },
  );
  const requestId = exampleId('req');
  return isOpenAI
    ? openaiErrorReply.parse(openaiError(error, requestId).body)
    : errorReply.parse(errorBody(error, requestId));
}

/** The first field of the route's query or body. */
function fieldOf({ input: { body, query } }: Route): string | undefined {
  const fields = z.record(z.string(), z.unknown()).catch({}).parse(exampleOf(body));
  return Object.keys({ ...query.shape, ...fields })[0];
}
