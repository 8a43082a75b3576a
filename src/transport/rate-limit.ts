import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../accounts/caller.ts';
import { networkOf } from '../accounts/client-network.ts';
import type { KeyOrigin } from '../accounts/key-lookup.ts';
import { type Limits, type Quota, rateLimitExceeded } from '../accounts/limits.ts';
import { botVersionName } from '../bots/bots.ts';
import { GatewayError } from '../errors/errors.ts';
import { toGatewayError } from '../errors/mask.ts';
import { type Observer, UNOBSERVED } from '../observability/observer.ts';
import type { ChargeOptions } from '../schema/context.ts';
import { botId } from '../text/input.ts';
import type { BodyLimits } from './arriving-body.ts';
import { type Authenticate, senderOf } from './authenticate.ts';
import { type BodyOwner, MAX_KEYLESS_BODY_BYTES } from './body-memory.ts';
import { isGraphQL } from './own-page.ts';
import { type Admission, quotaHeaders } from './request-admission.ts';

/** The remaining quota, and the caller read again if its account has changed since it was cached. */
export type Count = Quota & { renewed?: Caller | GatewayError };

/**
 * Counts the requests of every transport, against the account of a valid key or else against the client's address. A
 * visitor's request counts against both.
 */
export type Limiter = {
  /**
   * Counts a request or an operation against the account's current limits. A failed authentication counts against the
   * address, but an internal error counts nothing.
   */
  take(
    authentication: Caller | GatewayError,
    /** `undefined` after the client disconnected. All such requests share one count. */
    address: string | undefined,
    cost: number,
    /** The bot whose version to return in the same round trip. */
    botId?: string,
  ): Promise<Count>;
  /** Counts an operation as `take`, or a read of the console against its session. */
  takeOperation(
    authentication: Caller | GatewayError,
    address: string | undefined,
    cost: number,
    options?: ChargeOptions,
  ): Promise<Count>;
  /**
   * Authenticates and counts a request, and sets the rate-limit headers of its response. The request keeps the result.
   * It does not reject.
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<Admission>;
  /**
   * Reads the version of a bot that the body of an admitted request names, so that its data may come from the cache.
   * Counts nothing.
   */
  readBotVersion(request: FastifyRequest, botId: string): Promise<void>;
  /**
   * Counts a request for a static file, which needs no key, against its address.
   *
   * @throws GatewayError `rate_limit_exceeded` if the address has exceeded its file limit.
   */
  admitFile(request: FastifyRequest): Promise<void>;
  /**
   * Admits a request that no credential can make valid to one look-up, for example of a chat page.
   *
   * @returns the origin for the look-up.
   * @throws GatewayError `rate_limit_exceeded` if the address has no requests left.
   */
  admitLookup(request: FastifyRequest): Promise<KeyOrigin>;
  /**
   * Counts a refused request against its address.
   *
   * @returns the error, or `rate_limit_exceeded` if the address has no requests left.
   */
  refuse(request: FastifyRequest, error: GatewayError): Promise<GatewayError>;
  /**
   * Decides under which limits the body of a request is read: the limits of its account, or else of its address.
   *
   * @throws GatewayError `rate_limit_exceeded` for a GraphQL request without a valid key whose address has no requests
   *   left; `internal_error` if the credential cannot be looked up.
   */
  bodyLimits(request: FastifyRequest): Promise<BodyLimits>;
};

export function createLimiter({
  authenticate,
  limits,
  observer = UNOBSERVED,
}: {
  authenticate: Authenticate;
  limits: Limits;
  observer?: Observer | undefined;
}): Limiter {
  const count: Limiter['take'] = async (authentication, address, cost, bot) => {
    if (authentication instanceof GatewayError) {
      const isRefusal = authentication.code !== 'internal_error';
      return limits.takeForAddress(address ?? '', isRefusal ? cost : 0);
    }
    const { account, cacheEntry, session } = authentication;
    if (session?.visited) {
      const quota = await limits.takeForVisitor(session.visited, address ?? '', cost);
      if (!quota.allowed) return quota;
    }
    const versioned = bot && botVersionName(bot);
    const quota = await limits.takeForAccount(account, cost, versioned, cacheEntry?.version);
    const { accountVersion } = quota;
    if (accountVersion === undefined || !cacheEntry || accountVersion === cacheEntry.version)
      return quota;
    const renewed = await cacheEntry.renew(accountVersion).catch(toGatewayError);
    // Count without the version check, so that an account that changes constantly is still served.
    const settled =
      renewed instanceof GatewayError ? renewed : { ...renewed, cacheEntry: undefined };
    return { ...(await count(settled, address, cost, bot)), renewed };
  };

  const take: Limiter['take'] = async (...request) => {
    const quota = await count(...request);
    if (!quota.allowed) observer.rateLimited();
    return quota;
  };

  const admitLookup: Limiter['admitLookup'] = async ({ ip }) => {
    const origin = limits.originOf(ip);
    if (origin.isSpent) {
      const quota = await take(keyless(), ip, 0);
      if (quota.remaining === 0) {
        observer.rateLimited();
        throw rateLimitExceeded(quota);
      }
    }
    return origin;
  };

  return {
    take,

    async takeOperation(authentication, address, cost, { isConsoleRead = false } = {}) {
      const session =
        'consoleSession' in authentication ? authentication.consoleSession : undefined;
      if (!isConsoleRead || !session) return take(authentication, address, cost);
      const quota = await limits.takeForConsole(session.hash, cost);
      // The response tells the quota of the account.
      if (quota.allowed) return take(authentication, address, 0);
      observer.rateLimited();
      return quota;
    },

    async admit(request, reply) {
      // Read the address before the first `await`: it is lost when the client disconnects, and the request still counts.
      const { ip } = request;
      const found = await authenticate(request.headers.authorization, ip).catch(toGatewayError);
      const remembered = 'session' in found ? tokenRefused() : found;
      const id = pathOf.safeParse(request.params).data?.id;
      const { renewed, ...quota } = await take(remembered, ip, 1, id);
      const authentication = renewed ?? remembered;
      const bot = id && quota.version !== undefined ? { id, version: quota.version } : undefined;
      const admission = { authentication, quota, bot };
      request.admission = admission;
      reply.headers(quotaHeaders(quota));
      return admission;
    },

    async readBotVersion({ ip, admission }, id) {
      if (!admission || !botId.safeParse(id).success) return;
      const { version } = await take(admission.authentication, ip, 0, id);
      if (version !== undefined) admission.bot = { id, version };
    },

    async admitFile({ ip }) {
      const quota = await limits.takeForFile(ip ?? '');
      if (quota.allowed) return;
      observer.rateLimited();
      throw rateLimitExceeded(quota);
    },

    admitLookup,

    async refuse({ ip }, error) {
      const quota = await take(error, ip, 1);
      return quota.allowed ? error : rateLimitExceeded(quota);
    },

    async bodyLimits(request) {
      const { ip = '', admission, bodyOwner, routeOptions } = request;
      const maxBytes = routeOptions.bodyLimit;
      if (bodyOwner) return { owner: bodyOwner, maxBytes };
      const ofAddress: BodyOwner = { kind: 'address', id: networkOf(ip) };
      // A key is looked up only for routes that use it, because only their requests count.
      if (!admission && !isGraphQL(request)) return { owner: ofAddress, maxBytes };
      const sender =
        admission?.authentication ?? (await senderOf(request, authenticate).catch(toGatewayError));
      if (!(sender instanceof GatewayError)) return { owner: bodyOwnerOf(sender, ip), maxBytes };
      // An outage says nothing about the key, so that it must not lower the limit.
      if (sender.code === 'internal_error') throw sender;
      await admitLookup(request);
      const isKeyless = maxBytes > MAX_KEYLESS_BODY_BYTES;
      return { owner: ofAddress, maxBytes: Math.min(maxBytes, MAX_KEYLESS_BODY_BYTES), isKeyless };
    },
  };
}

/** The owner of a caller's arriving data in `BodyMemory`: the account, or the address of a visitor. */
export function bodyOwnerOf({ account, session }: Caller, address = ''): BodyOwner {
  return session?.visited
    ? { kind: 'address', id: networkOf(address) }
    : { kind: 'account', id: account.id };
}

function keyless(): GatewayError {
  return new GatewayError('missing_api_key', 'This route needs no API key.');
}

/** Session tokens are for web pages. The REST interface is for servers, which have API keys. */
function tokenRefused(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'Session tokens are accepted only by GraphQL. Send an API key.',
  );
}

/** The parameters of a path with a bot's id. */
const pathOf = z.object({ id: botId });
