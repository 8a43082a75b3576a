import { createHash } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { isJsonObject } from '../json.ts';

/** A request that its caller may repeat: the same again gets the first answer. */
export type Repeatable = {
  accountId: string;
  /** The caller's name for the request, within its account. */
  key: string;
  /** What `fingerprintOf` answered. */
  fingerprint: string;
};

/** How long the answer to a repeatable request is kept, as PostgreSQL says it. */
export const KEPT_FOR = '24 hours';

/**
 * Tells requests apart: SHA-256 of the operation and all that it was given, in whatever order objects have their
 * members.
 */
export function fingerprintOf(operation: string, input: unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify([operation, ...input], inOrder))
    .digest('hex');
}

/** For `JSON.stringify`: writes the members of objects by their names. */
function inOrder(_name: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** @throws GatewayError `idempotency_conflict` where a key was used for something else. */
export function assertSame({ key, fingerprint }: Repeatable, other: { fingerprint: string }): void {
  if (fingerprint === other.fingerprint) return;
  throw new GatewayError(
    'idempotency_conflict',
    `The idempotency key "${key}" was used for another request.`,
  );
}
