import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../accounts/caller.ts';
import { type Limits, networkOf, type Quota, rateLimitExceeded } from '../accounts/limits.ts';
import { botVersionName } from '../bots/bots.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import { botId } from '../input.ts';
import type { BotVersion } from '../schema/context.ts';
import { ACCOUNT_BODY_BYTES, ADDRESS_BODY_BYTES, createReserveBody } from './arriving-bodies.ts';
import type { Authenticate } from './authenticate.ts';

/** Who asks, and what is left to them. */
export type Admission = {
  /** The caller, or why nobody is let in. */
  authentication: Caller | GatewayError;
  quota: Quota;
  /** The bot that the path names, with its version, where that is known. */
  bot: BotVersion | undefined;
};

/** What is left, and the caller where its account has changed since the caller was read: as it is now. */
export type Count = Quota & { renewed?: Caller | GatewayError };

/** The one count for every entrance: against the account of a valid key, else against the client's address. */
export type Limiter = {
  /**
   * Counts a request or an operation, by the account's current limits. A failed authentication counts against the address,
   * unless our own fault made it fail.
   */
  take(
    authentication: Caller | GatewayError,
    /** None where the client has gone, which leaves none behind; all of those count as one. */
    address: string | undefined,
    cost: number,
    /** Of which bot to tell the version. */
    botId?: string,
  ): Promise<Count>;
  /** Finds out who sends a request below `/v1`, counts it, and says in its answer's headers what is left. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<Admission>;
  /**
   * Counts a request for a static file, which needs no key, against its address.
   *
   * @throws GatewayError `rate_limit_exceeded` for an address that has had its files of this minute.
   */
  admitFile(request: FastifyRequest): Promise<void>;
  /**
   * Reserves memory for the body of a request, before it is read.
   *
   * @throws GatewayError `rate_limit_exceeded` where too much is on its way for the account, or for an address without
   *   a valid key.
   */
  receive(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** What was found of a request that was admitted. */
  admitted(request: FastifyRequest): Admission | undefined;
};

export function createLimiter({
  authenticate,
  limits,
}: {
  authenticate: Authenticate;
  limits: Limits;
}): Limiter {
  const admissions = new WeakMap<FastifyRequest, Admission>();
  const reserveBody = createReserveBody();

  const take: Limiter['take'] = async (authentication, address, cost, bot) => {
    if (authentication instanceof GatewayError) {
      const isRefusal = authentication.code !== 'internal_error';
      return limits.takeForAddress(address ?? '', isRefusal ? cost : 0);
    }
    const { account, reading } = authentication;
    const versioned = bot && botVersionName(bot);
    const quota = await limits.takeForAccount(account, cost, versioned, reading?.version);
    const { accountVersion } = quota;
    if (accountVersion === undefined || !reading || accountVersion === reading.version)
      return quota;
    const renewed = await reading.renew(accountVersion).catch(toGatewayError);
    // Counted without the check of the version, so that an account that changes all the time is still served.
    const settled = renewed instanceof GatewayError ? renewed : { ...renewed, reading: undefined };
    return { ...(await take(settled, address, cost, bot)), renewed };
  };

  return {
    take,

    async admit(request, reply) {
      // Asked before anything is waited for: a client may go meanwhile, and counts all the same.
      const { ip } = request;
      const found = await authenticate(request.headers.authorization, ip).catch(toGatewayError);
      const remembered = 'session' in found ? tokenRefused() : found;
      const id = pathOf.safeParse(request.params).data?.id;
      const { renewed, ...quota } = await take(remembered, ip, 1, id);
      const authentication = renewed ?? remembered;
      const bot = id && quota.version !== undefined ? { id, version: quota.version } : undefined;
      const admission = { authentication, quota, bot };
      admissions.set(request, admission);
      reply.headers(quotaHeaders(quota));
      return admission;
    },

    async admitFile({ ip }) {
      const quota = await limits.takeForFile(ip ?? '');
      if (!quota.allowed) throw rateLimitExceeded(quota);
    },

    async receive(request, reply) {
      const { raw, ip = '', headers } = request;
      const authentication =
        admissions.get(request)?.authentication ??
        (await authenticate(headers.authorization, ip).catch(toGatewayError));
      if (authentication instanceof GatewayError) {
        reserveBody(raw, reply.raw, networkOf(ip), ADDRESS_BODY_BYTES);
      } else reserveBody(raw, reply.raw, authentication.account.id, ACCOUNT_BODY_BYTES);
    },

    admitted: (request) => admissions.get(request),
  };
}

/** Tokens are for pages; the REST interface is for servers, which have keys. */
function tokenRefused(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'This is a session token, which is for GraphQL alone. Send an API key.',
  );
}

/** The paths that name a bot. */
const pathOf = z.object({ id: botId });

/**
 * Lets a request below `/v1` go on.
 *
 * @param keyless whether it needs no key.
 * @throws GatewayError for a key that is missing or not valid, or for a limit that is exceeded. Guessing keys
 *   faster than an address may ask meets the limit alone.
 */
export function assertAdmitted({ authentication, quota }: Admission, keyless = false): void {
  if (!quota.allowed) throw rateLimitExceeded(quota);
  if (!keyless && authentication instanceof GatewayError) throw authentication;
}

/** What every answer says of the limit. Source: the API document, "Limits"; RFC 9110, section 10.2.3. */
export function quotaHeaders({ allowed, perMinute, remaining, reset, retryAfter }: Quota) {
  return {
    'X-RateLimit-Limit': String(perMinute),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(reset),
    ...(!allowed && { 'Retry-After': String(retryAfter) }),
  };
}
