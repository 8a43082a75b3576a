import type { ZodOpenApiHeaderObject } from 'zod-openapi';
import type { AnswerHeader } from '../route.ts';
import { exampleId } from '../wire.ts';

/** The headers of answers. Source: the API document, "Limits". */
export const HEADERS = {
  'X-Request-Id': {
    required: true,
    description: "The request's id: your own, if you have sent one.",
    schema: { type: 'string', examples: [exampleId('req')] },
  },
  'X-RateLimit-Limit': {
    required: true,
    description: 'How many requests a minute may have.',
    schema: { type: 'integer', examples: [60] },
  },
  'X-RateLimit-Remaining': {
    required: true,
    description:
      'How many are left in the window that binds: the minute, or the day when that is spent.',
    schema: { type: 'integer', minimum: 0, examples: [59] },
  },
  'X-RateLimit-Reset': {
    required: true,
    description: 'When that window ends, in seconds of Unix time.',
    schema: { type: 'integer', examples: [1795262400] },
  },
  'Retry-After': {
    required: true,
    description: 'How many seconds to wait.',
    schema: { type: 'integer', minimum: 1, examples: [21] },
  },
  'X-Run-Id': {
    required: true,
    description: "The run's id, by which its trace is found.",
    schema: { type: 'string', examples: [exampleId('run')] },
  },
  'Idempotency-Replayed': {
    description:
      'Whether this is the answer to an earlier request under the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
} satisfies Record<string, ZodOpenApiHeaderObject>;

type References = Record<string, { $ref: string }>;

const reference = (name: keyof typeof HEADERS): References => ({
  [name]: { $ref: `#/components/headers/${name}` },
});

/** What every answer below `/v1` says. */
export const COMMON_HEADERS = {
  ...reference('X-Request-Id'),
  ...reference('X-RateLimit-Limit'),
  ...reference('X-RateLimit-Remaining'),
  ...reference('X-RateLimit-Reset'),
};

export const RETRY_AFTER = reference('Retry-After');

/** On an error of a route that begins a run. */
export const FAILED_RUN = {
  'X-Run-Id': {
    ...HEADERS['X-Run-Id'],
    required: false,
    description: "The failed run's id, where one had begun.",
  },
};

/** The headers of an answer that is no error. */
export function headersOf(names: AnswerHeader[] = []): References {
  return Object.assign({}, COMMON_HEADERS, ...names.map(reference));
}
