import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionArgs, GraphQLError, getOperationAST } from 'graphql';
import { z } from 'zod';
import type { Caller } from '../accounts/caller.ts';
import { type Limits, type Quota, rateLimitExceeded } from '../accounts/limits.ts';
import { botVersionName } from '../bots/bots.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import { botId } from '../input.ts';
import type { BotVersion, Context } from '../schema/context.ts';
import { costOf } from '../schema/cost.ts';
import { assertSessionMayAsk } from '../schema/session-rule.ts';
import { assertReadable } from '../schema/weight.ts';
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
      const found = await authenticate(request.headers.authorization).catch(toGatewayError);
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

/**
 * Counts a GraphQL operation before it runs, and looks at whether it may: whether its document, which is valid, has it,
 * too. Yoga looks at that by itself, with the same words; `graphql-sse` would keep the operation's id for good.
 *
 * @returns why it may not run, for the transport to mask and send; nothing where it may.
 */
export async function refusalOf({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: Operation): Promise<GraphQLError | undefined> {
  try {
    await contextValue.charge(costOf(document, operationName));
    if (!getOperationAST(document, operationName)) {
      throw new GatewayError('invalid_request', 'Could not determine what operation to execute.');
    }
    assertReadable(schema, document, operationName, variableValues);
    if (contextValue.session()) assertSessionMayAsk(schema, document);
    return undefined;
  } catch (error) {
    const originalError = toGatewayError(error);
    return new GraphQLError(originalError.message, { originalError });
  }
}

/** What is to be run, as all libraries call it. */
type Operation = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'> & {
  contextValue: Context;
};
