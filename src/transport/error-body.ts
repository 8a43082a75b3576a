import type { z } from 'zod';
import type { GatewayError } from '../errors.ts';
import type { errorReply } from './rest/replies.ts';

/** The body of every error of the REST interface. Source: the API document, "Errors". */
export function errorBody(
  { code, message, retryAfter, details }: GatewayError,
  requestId: string,
): z.infer<typeof errorReply> {
  return {
    error: {
      code,
      message,
      ...(retryAfter && { retry_after: retryAfter }),
      ...(details && { details }),
      request_id: requestId,
    },
  };
}
