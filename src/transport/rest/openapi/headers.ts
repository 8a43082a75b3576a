import type { ZodOpenApiHeaderObject } from 'zod-openapi';
import type { AnswerHeader } from '../route.ts';
import { exampleId } from '../wire.ts';

/** Response headers. Source: the API document, "Limits". */
export const HEADERS = {
  'X-Request-Id': {
    required: true,
    description: 'ID of the request: your own if you sent one, otherwise a generated one.',
    schema: { type: 'string', examples: [exampleId('req')] },
  },
  'X-RateLimit-Limit': {
    required: true,
    description: 'Maximum requests per minute.',
    schema: { type: 'integer', examples: [60] },
  },
  'X-RateLimit-Remaining': {
    required: true,
    description:
      'Requests left in the current window: the minute, or the day once the daily limit is reached.',
    schema: { type: 'integer', minimum: 0, examples: [59] },
  },
  'X-RateLimit-Reset': {
    required: true,
    description: 'Time at which the current window ends, in Unix seconds.',
    schema: { type: 'integer', examples: [1795262400] },
  },
  'Retry-After': {
    required: true,
    description: 'Seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 1, examples: [21] },
  },
  'X-Run-Id': {
    required: true,
    description: 'ID of the run.',
    schema: { type: 'string', examples: [exampleId('run')] },
  },
  'Idempotency-Replayed': {
    description:
      'Present if this is the response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
} satisfies Record<string, ZodOpenApiHeaderObject>;

type References = Record<string, { $ref: string }>;

const reference = (name: keyof typeof HEADERS): References => ({
  [name]: { $ref: `#/components/headers/${name}` },
});

/** Headers of every response under `/v1`. */
export const COMMON_HEADERS = {
  ...reference('X-Request-Id'),
  ...reference('X-RateLimit-Limit'),
  ...reference('X-RateLimit-Remaining'),
  ...reference('X-RateLimit-Reset'),
};

export const RETRY_AFTER = reference('Retry-After');

/** Header of an error response of a route that starts a run. */
export const FAILED_RUN = {
  'X-Run-Id': {
    ...HEADERS['X-Run-Id'],
    required: false,
    description: 'ID of the failed run, if a run was created.',
  },
};

/** Headers of a successful response. */
export function headersOf(names: AnswerHeader[] = []): References {
  return Object.assign({}, COMMON_HEADERS, ...names.map(reference));
}
