import type { ErrorDetail } from '../../errors/errors.ts';
import { isJsonObject } from '../../text/json.ts';
import { objectOf, type Shape, type Wire } from './shape.ts';

/** Headers that say the same as a field of the query or the body. */
const HEADERS = { environment: 'X-Environment', idempotency_key: 'Idempotency-Key' };

type Given = { field: string; place: string; value: unknown };

/**
 * Returns a problem for each field that a request gives with different values in its body, its query and its headers.
 * Ignores fields and headers that the route does not know.
 */
export function contradictions(wire: Wire, { headers, query, body }: Shape): ErrorDetail[] {
  const ofHeaders = Object.entries(HEADERS).flatMap(([field, header]) => {
    const name = header.toLowerCase();
    if (!headers || !(name in headers.shape)) return [];
    return { field, place: `the header ${header}`, value: readFrom(wire.headers, name) };
  });
  const given = [
    ...(body ? valuesIn('the body', wire.body, objectOf(body)) : []),
    ...valuesIn('the query', wire.query, query),
    ...ofHeaders,
  ].filter(({ value }) => typeof value === 'string');
  return [...Map.groupBy(given, ({ field }) => field)].flatMap(([path, values]) => {
    if (new Set(values.map(({ value }) => value)).size < 2) return [];
    return {
      path,
      message: `must be the same in ${values.map(({ place }) => place).join(' and ')}`,
    };
  });
}

function valuesIn(place: string, part: unknown, { shape }: Shape['query']): Given[] {
  return Object.keys(shape).map((field) => ({ field, place, value: readFrom(part, field) }));
}

function readFrom(part: unknown, name: string): unknown {
  return isJsonObject(part) ? part[name] : undefined;
}
