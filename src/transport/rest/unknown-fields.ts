import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import type { ErrorDetail } from '../../errors/errors.ts';
import { isJsonObject } from '../../text/json.ts';
import { type BodySchema, objectOf } from './shape.ts';

/** A field that differs from a known one in at most this many letters is a typo. */
const MAX_TYPOS = 2;

/**
 * Returns a problem for each unknown field that a body must not have. A strict body must have none. Any other body may
 * have fields of the client's own, but none that nearly names a known field.
 */
export function unknownFields(body: unknown, schema: BodySchema): ErrorDetail[] {
  if (!isJsonObject(body)) return [];
  const { shape, def } = objectOf(schema);
  const known = Object.keys(shape);
  const isStrict = def.catchall instanceof z.ZodNever;
  return Object.keys(body)
    .filter((name) => !known.includes(name))
    .flatMap((path) => {
      const meant = known.find((name) => isTypo(path, name));
      if (!meant && !isStrict) return [];
      const hint = meant ? `, did you mean ${meant}?` : `; the fields are ${known.join(', ')}`;
      return { path, message: `unknown field ${path}${hint}` };
    });
}

function isTypo(name: string, known: string): boolean {
  // The distance takes time proportional to both lengths, and a name may be as long as the body.
  if (Math.abs(name.length - known.length) > MAX_TYPOS) return false;
  return distance(name.toLowerCase(), known.toLowerCase()) <= MAX_TYPOS;
}
