import { z } from 'zod';
import { ERROR_CODES } from '../../errors/errors.ts';
import type { ErrorBody } from '../error-body.ts';
import { ERROR_TYPES, type OpenAIErrorBody } from '../openai-error.ts';
import { exampleId } from './wire.ts';

const errorCode = z.enum(ERROR_CODES).meta({ description: 'Machine-readable error code.' });

/** The form of every error. Source: the API document, "Errors". */
export const errorReply = z
  .object({
    error: z
      .object({
        code: errorCode,
        message: z.string().meta({ description: 'Human-readable explanation of the error.' }),
        retry_after: z.int().min(1).optional().meta({
          description: 'Seconds to wait before a retry. Only with `rate_limit_exceeded`.',
        }),
        details: z
          .array(
            z.object({
              path: z.string().meta({
                description: 'Dotted path of the field. Empty for the body as a whole.',
                examples: ['context.plan'],
              }),
              message: z
                .string()
                .meta({ description: 'Human-readable explanation of the problem.' }),
            }),
          )
          .optional()
          .meta({
            description: 'Every problem in the request, each with its dotted path.',
          }),
        request_id: z.string().meta({
          description: 'ID of the request, as in the header `X-Request-Id`.',
          examples: [exampleId('req')],
        }),
      })
      .meta({ description: 'Why the request failed.' }),
  })
  .meta({ id: 'Error' }) satisfies z.ZodType<ErrorBody>;

/** The form of every error at OpenAI's routes. */
export const openaiErrorReply = z
  .object({
    error: errorReply.shape.error
      .extend({
        type: z.enum(ERROR_TYPES).meta({ description: 'Kind of the error.' }),
        param: z
          .string()
          .nullable()
          .meta({
            description: 'The member of the request that the error is about. Null for none.',
            examples: ['messages.0.content'],
          }),
      })
      .meta({ description: 'Why the request failed.' }),
  })
  .meta({ id: 'OpenAIError' }) satisfies z.ZodType<OpenAIErrorBody>;

export function nextCursor() {
  return z
    .string()
    .nullable()
    .meta({ description: 'Value of `cursor` for the next page. Null on the last page.' });
}
