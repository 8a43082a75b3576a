import { z } from 'zod';
import type { ErrorDetail } from '../../errors/errors.ts';
import { GatewayError } from '../../errors/errors.ts';
import { expected } from '../../text/input.ts';
import { isJsonObject } from '../../text/json.ts';
import { chatHeaders } from '../rest/chat-wire.ts';

/** A path without parameters. */
export const noParams = z.object({});

/** A query whose parameters are ignored. */
export const anyQuery = z.object({});

/** Headers of requests that start a run. */
export const runHeaders = chatHeaders;

/** A member that is accepted and has no effect. */
export function ignored(type: 'number' | 'string' | 'boolean' | 'object' | 'array') {
  return z
    .unknown()
    .optional()
    .meta({
      description: 'Accepted and ignored: the definition of the bot decides.',
      override: { type: [type, 'null'] },
    });
}

/** A member that accepts only some values. `assertSupported` names the others. */
export function limited(description: string, override: object) {
  return z.unknown().optional().meta({ description, override });
}

/** An object whose members are checked where they are read. */
export const anyObject = z.custom<Record<string, unknown>>(isJsonObject, {
  error: 'must be an object',
});

/** The problem of a form of the reply: of its type, or of the whole. */
export function formatProblem({ code }: { code: string }): string {
  return code === 'invalid_union'
    ? 'must be "text", "json_object" or "json_schema"'
    : 'must be an object';
}

/** Any object, or null, in the OpenAPI document. */
export function objectOrNull({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  delete jsonSchema.anyOf;
  Object.assign(jsonSchema, { type: ['object', 'null'], additionalProperties: true });
}

/** A flag that may be null. */
export const flag = z.boolean(expected('a boolean')).nullish();

/** @throws GatewayError `unsupported_parameter` that names every parameter. */
export function assertSupported(problems: readonly ErrorDetail[]): void {
  if (problems.length === 0) return;
  const message = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new GatewayError('unsupported_parameter', message, { details: [...problems] });
}
