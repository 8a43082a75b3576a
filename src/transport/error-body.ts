import type { ErrorCode, ErrorDetail, GatewayError } from '../errors/errors.ts';

export type ErrorBody = {
  error: {
    code: ErrorCode;
    message: string;
    /** Seconds. */
    retry_after?: number | undefined;
    details?: ErrorDetail[] | undefined;
    request_id: string;
  };
};

/** The body of every error of the REST interface. Source: the API document, "Errors". */
export function errorBody(
  { code, message, retryAfter, details }: GatewayError,
  requestId: string,
): ErrorBody {
  return {
    error: {
      code,
      message,
      ...(retryAfter && { retry_after: retryAfter }),
      ...(details && { details: details.map(inWireNames) }),
      request_id: requestId,
    },
  };
}

/** Converts a detail's path in the schema's `input` to REST names: `input.envVars` becomes `env_vars`. */
function inWireNames({ path, message }: ErrorDetail): ErrorDetail {
  const [, name] = /^input\.(\w+)$/.exec(path) ?? [];
  if (name === undefined) return { path, message };
  return { path: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), message };
}
