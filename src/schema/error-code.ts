import type { ErrorCode } from '../errors/errors.ts';
import { builder } from './builder.ts';

const DESCRIPTIONS: Record<ErrorCode, string> = {
  invalid_json: 'The request body is not valid JSON.',
  invalid_request: 'The request is invalid; `details` lists the problems.',
  request_too_large:
    'The request body is larger than 1 MiB, or the response could be larger than 16 MiB.',
  bot_not_deployed: 'The bot has no active deployment in the environment.',
  idempotency_conflict: 'The idempotency key was used for another request.',
  deployment_not_deployable: 'The deployment failed, or is in the wrong environment.',
  definition_invalid:
    'The definition has errors. A chat with a draft returns it with `diagnostics`; a REST deploy returns it with `strict`.',
  session_busy: 'The session is busy with another message.',
  search_too_broad: 'A search for a text takes longer than 2 seconds.',
  missing_api_key: 'The request has no API key.',
  invalid_api_key: 'The API key or session token is unknown, revoked or expired.',
  bot_access_denied: 'The API key may not use the bot.',
  insufficient_scope: 'The API key lacks the required scope.',
  bot_not_found: 'The bot does not exist.',
  deployment_not_found: 'The deployment does not exist.',
  run_not_found: 'The run does not exist.',
  not_found: 'The object does not exist.',
  rate_limit_exceeded: 'A limit of the account or of the client address is exceeded.',
  internal_error: 'The server failed.',
  model_error: 'The model failed or returned an invalid reply.',
  model_timeout: 'The model did not reply in time.',
  content_filtered: 'A content filter of the model’s server removed the reply.',
  interrupted: 'The process that executed the run died or was stopped.',
};

const values = Object.fromEntries(
  Object.entries(DESCRIPTIONS).map(([code, description]) => [
    code.toUpperCase(),
    { value: code, description },
  ]),
);

/** The error codes of runs and their events. Resolvers return the code as the domain has it, in lower case. */
export const ErrorCodeEnum = builder.enumType('ErrorCode', {
  description:
    'Error code of a run. The codes in `extensions.code` of failed operations are the same.',
  values,
});
