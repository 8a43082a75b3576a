import type { GatewayError } from '../errors.ts';

/** The body of every error of the REST interface. Source: the API document, "Errors". */
export function errorBody({ code, message, details }: GatewayError, requestId: string) {
  return { error: { code, message, ...(details && { details }), request_id: requestId } };
}
