import { ERRORS, type ErrorCode, type ErrorDetail, type GatewayError } from '../errors/errors.ts';
import { type ErrorBody, errorBody } from './error-body.ts';
import { meantBy } from './mistaken-address.ts';

/** The kinds of errors of OpenAI's API. */
export const ERROR_TYPES = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'rate_limit_error',
  'api_error',
] as const;

type ErrorType = (typeof ERROR_TYPES)[number];

const TYPES: Readonly<Record<number, ErrorType>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** At these routes, a bot is a model. */
const OF_MODELS: Partial<Record<ErrorCode, ErrorCode>> = {
  bot_not_found: 'model_not_found',
  bot_not_deployed: 'model_not_found',
};

/** The paths of OpenAI's API, and all paths below them. */
const PATHS = /^\/v1\/(models|chat\/completions|responses)(?![^/?])/;

/** An error in the form of OpenAI's API, with the members of Parley's own errors. */
export type OpenAIErrorBody = {
  error: ErrorBody['error'] & {
    type: ErrorType;
    /** The member of the request that the error is about. */
    param: string | null;
  };
};

/** Writes an error in the form of OpenAI's API. */
export function openaiError(
  error: GatewayError,
  requestId: string,
): { status: number; body: OpenAIErrorBody } {
  const { error: own } = errorBody(error, requestId);
  const code = OF_MODELS[own.code] ?? own.code;
  const { status } = ERRORS[code];
  const message =
    own.code === 'bot_not_found'
      ? `${own.message} GET /v1/models lists the bots of this key.`
      : own.message;
  const param = code === 'model_not_found' ? 'model' : pathOf(own.details);
  return {
    status,
    body: { error: { ...own, code, message, type: TYPES[status] ?? 'api_error', param } },
  };
}

/** Writes an error in the form of the interface that a URL belongs to. */
export function errorAt(
  url: string,
  error: GatewayError,
  requestId: string,
): { status: number; body: ErrorBody } {
  if (PATHS.test(url) || meantBy(url)?.isOpenAI) return openaiError(error, requestId);
  return { status: ERRORS[error.code].status, body: errorBody(error, requestId) };
}

/** Fields of the schema that have another name in OpenAI's API. */
const NAMES: Readonly<Record<string, string>> = { previous_run_id: 'previous_response_id' };

function pathOf(details: ErrorDetail[] = []): string | null {
  const path = details[0]?.path || null;
  return path && (NAMES[path] ?? path);
}
