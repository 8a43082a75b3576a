import type { FastifyInstance } from 'fastify';
import type { Caller } from '../accounts/caller.ts';
import { type Quota, rateLimitExceeded } from '../accounts/limits.ts';
import { GatewayError } from '../errors/errors.ts';
import type { BotVersion } from '../schema/context.ts';
import type { BodyOwner } from './body-memory.ts';

/** The caller of a counted request, and the remaining quota. */
export type Admission = {
  /** The caller, or the authentication error. */
  authentication: Caller | GatewayError;
  quota: Quota;
  /** The bot in the path, with its version, if known. */
  bot: BotVersion | undefined;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of `Limiter.admit`; `null` for a request that it did not count. */
    admission: Admission | null;
    /** The owner of the body in `BodyMemory`, if the route authenticates its senders itself. */
    bodyOwner: BodyOwner | null;
  }
}

/** Prepares a server for `Limiter.admit`. */
export function decorateAdmission(app: FastifyInstance): void {
  app.decorateRequest('admission', null);
  app.decorateRequest('sender', null);
  app.decorateRequest('bodyOwner', null);
}

/**
 * Rejects a request that exceeds its limit or lacks a valid key. The limit comes first, so that an attacker who guesses
 * keys learns only the limit.
 *
 * @param keyless whether the route needs no key.
 * @throws GatewayError
 */
export function assertAdmitted({ authentication, quota }: Admission, keyless = false): void {
  if (!quota.allowed) throw rateLimitExceeded(quota);
  if (!keyless && authentication instanceof GatewayError) throw authentication;
}

/** The rate-limit headers of a response. Source: the API document, "Limits"; RFC 9110, section 10.2.3. */
export function quotaHeaders({ allowed, perMinute, remaining, reset, retryAfter }: Quota) {
  return {
    'X-RateLimit-Limit': String(perMinute),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(reset),
    ...(!allowed && { 'Retry-After': String(retryAfter) }),
  };
}
