import { createHash } from 'node:crypto';
import { GatewayError } from '../errors.ts';

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

/** Tells requests apart: SHA-256 of the operation and all that it was given. */
export function fingerprintOf(operation: string, input: unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify([operation, ...input]))
    .digest('hex');
}

/** @throws GatewayError `idempotency_conflict` where a key was used for something else. */
export function assertSame({ key, fingerprint }: Repeatable, other: { fingerprint: string }): void {
  if (fingerprint === other.fingerprint) return;
  throw new GatewayError(
    'idempotency_conflict',
    `The idempotency key "${key}" was used for another request.`,
  );
}
