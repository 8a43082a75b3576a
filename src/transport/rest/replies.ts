import { z } from 'zod';
import { ERROR_STATUS, readErrorCode } from '../../errors.ts';
import { exampleId } from './wire.ts';

/** The closed list. Source: `ERROR_STATUS`. */
const errorCode = z
  .enum(Object.keys(ERROR_STATUS).map(readErrorCode))
  .meta({ description: 'What programs go by: one of a closed list.' });

/** The form of every error. Source: the API document, "Errors". */
export const errorReply = z
  .object({
    error: z.object({
      code: errorCode,
      message: z.string().meta({ description: 'The same for people.' }),
      retry_after: z
        .int()
        .min(1)
        .optional()
        .meta({ description: 'Whole seconds to wait; with `rate_limit_exceeded` alone.' }),
      details: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .meta({
          description: 'All that is wrong with the request, and where: a dotted path.',
        }),
      request_id: z.string().meta({
        description: 'The same as in the header `X-Request-Id`.',
        examples: [exampleId('req')],
      }),
    }),
  })
  .meta({ id: 'Error' });

/** The end of every list. */
export function nextCursor() {
  return z
    .string()
    .nullable()
    .meta({ description: '`cursor` of the next page; `null`: this is the last.' });
}
