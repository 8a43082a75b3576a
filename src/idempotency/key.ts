import { hash } from 'node:crypto';
import type { Caller } from '../accounts/caller.ts';
import { GatewayError } from '../errors/errors.ts';
import { sortMembers } from '../text/json.ts';

/** A caller's idempotency key, unique within its account and namespace. */
export type IdempotencyKey = {
  accountId: string;
  /** The result of `namespaceOf`. */
  namespace: string;
  /** The client's text for the key. */
  key: string;
};

/** The result of `formerNamespaceOf`. A key that has a record in it is taken too. */
type Former = { formerNamespace?: string | undefined };

/** A request with an idempotency key. A repeated request gets the first response. */
export type Repeatable = IdempotencyKey &
  Former & {
    /** The result of `fingerprintOf`. */
    fingerprint: string;
  };

/**
 * The namespace of a caller's idempotency keys. All API keys of an account share one namespace for each bot. The tokens
 * of a session share their own, so that a page can neither use up nor probe its backend's keys. It holds the session's id
 * as a hash, because it outlives a forgotten session.
 */
export function namespaceOf({ session }: Pick<Caller, 'session'>, botId: string): string {
  if (!session) return `key:${botId}`;
  const owner = `${session.botId}:${session.environment}:${session.sessionId}`;
  return `token:${hash('sha256', owner)}`;
}

/**
 * The namespace that version 0.2 stores for a session token. During a rolling update, its processes still store rows after
 * the migration has hashed the earlier ones. Remove it in version 0.4, with `formerNamespace` everywhere.
 */
export function formerNamespaceOf({ session }: Pick<Caller, 'session'>): string | undefined {
  return session && `token:${session.botId}:${session.environment}:${session.sessionId}`;
}

/** The primary key of a request's record. */
export function keyOf({ accountId, namespace, key }: IdempotencyKey): IdempotencyKey {
  return { accountId, namespace, key };
}

/** How long the response to a request is kept, as a PostgreSQL interval. */
export const KEPT_FOR = '24 hours';

/** Identifies a request's content: SHA-256 of the operation and its input. The order of object members does not matter. */
export function fingerprintOf(operation: string, input: unknown[]): string {
  return hash('sha256', JSON.stringify([operation, ...input], sortMembers));
}

/** @throws GatewayError `idempotency_conflict` if the key was used for a different request. */
export function assertSame({ key, fingerprint }: Repeatable, other: { fingerprint: string }): void {
  if (fingerprint === other.fingerprint) return;
  throw new GatewayError(
    'idempotency_conflict',
    `The idempotency key "${key}" was used for a different request.`,
  );
}
