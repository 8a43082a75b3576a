import { createHash } from 'node:crypto';
import type { Caller } from '../accounts/caller.ts';
import { GatewayError } from '../errors.ts';
import { isJsonObject } from '../json.ts';

/** An idempotency key of a caller: unique within its account and its namespace. */
export type IdempotencyKey = {
  accountId: string;
  /** What `namespaceOf` answered. */
  namespace: string;
  /** The caller's name for the request. */
  key: string;
};

/** A request that its caller may repeat: the same again gets the first answer. */
export type Repeatable = IdempotencyKey & {
  /** What `fingerprintOf` answered. */
  fingerprint: string;
};

/**
 * The callers that share idempotency keys: all API keys of an account share those of one bot, all tokens of a session
 * share those of that session. A page can neither take nor probe the keys of its backend.
 */
export function namespaceOf({ session }: Pick<Caller, 'session'>, botId: string): string {
  if (!session) return `key:${botId}`;
  return `token:${session.botId}:${session.environment}:${session.sessionId}`;
}

/** The key alone, as the record of a request is found by it. */
export function keyOf({ accountId, namespace, key }: IdempotencyKey): IdempotencyKey {
  return { accountId, namespace, key };
}

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
