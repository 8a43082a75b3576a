import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../../accounts/caller.ts';
import type { ConsoleSessions } from '../../accounts/console-sessions.ts';
import type { KeyOrigin } from '../../accounts/key-lookup.ts';
import type { Keys } from '../../accounts/keys.ts';
import { type Limits, rateLimitExceeded } from '../../accounts/limits.ts';
import type { SignInCodes } from '../../accounts/sign-in-codes.ts';
import { GatewayError, invalidInput, problemsOf } from '../../errors/errors.ts';
import { toGatewayError } from '../../errors/mask.ts';
import { expected } from '../../text/input.ts';
import { cookieWith, cookieWithout, readCookie } from '../console-cookie.ts';
import { assertFromConsole } from '../own-page.ts';
import type { Limiter } from '../rate-limit.ts';
import { quotaHeaders } from '../request-admission.ts';

const secret = z.string(expected('a string')).max(256, 'must not be longer than 256 characters');
const byCode = z.strictObject({ code: secret }, { error: 'must be {"code": …}' });
const signIn = z.union([z.strictObject({ key: secret }), byCode], {
  error: 'must be {"key": …} or {"code": …}',
});

/** Largest body of a sign-in. It holds one secret. */
const MAX_SIGN_IN_BYTES = 4 * 1024;

type Options = {
  keys: Pick<Keys, 'verify'>;
  consoleSessions: ConsoleSessions;
  signInCodes: Pick<SignInCodes, 'inspect' | 'redeem'>;
  limits: Pick<Limits, 'originOf'>;
  limiter: Limiter;
};

/**
 * Serves the console's session at `/session`. `POST` exchanges an API key, or a one-time code, for a session's cookie;
 * `DELETE` signs out. `POST /session/code` returns whom a code signs in, without using it up. Only the console's own
 * pages may send these requests. Each counts 1 against the key's account, and a failed one against its address.
 */
export async function serveSession(
  app: FastifyInstance,
  { keys, consoleSessions, signInCodes, limits, limiter }: Options,
) {
  const count = async (
    found: Caller | GatewayError,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    const { renewed: caller = found, ...quota } = await limiter.take(found, request.ip, 1);
    reply.headers(quotaHeaders(quota));
    if (!quota.allowed) throw rateLimitExceeded(quota);
    return caller;
  };

  const admit = async (
    request: FastifyRequest,
    reply: FastifyReply,
    verify: (origin: KeyOrigin) => Promise<Caller>,
  ) => {
    const found = await verify(limits.originOf(request.ip)).catch(toGatewayError);
    const caller = await count(found, request, reply);
    if (caller instanceof GatewayError) throw caller;
    return caller;
  };

  // Before the body is read.
  app.addHook('onRequest', async (request) => assertFromConsole(request));

  app.post('/session', { bodyLimit: MAX_SIGN_IN_BYTES }, async (request, reply) => {
    const data = read(signIn, request.body);
    const caller = await admit(request, reply, (origin) =>
      'key' in data ? keys.verify(data.key.trim(), origin) : signInCodes.inspect(data.code, origin),
    );
    // After the count, so that a request over the limit does not use the code up.
    if ('code' in data) await signInCodes.redeem(data.code);
    const previous = readCookie(request);
    if (previous) await consoleSessions.end(previous.token, limits.originOf(request.ip));
    reply.header('set-cookie', cookieWith(request, await consoleSessions.begin(caller)));
    return reply.code(204).send();
  });

  app.post('/session/code', { bodyLimit: MAX_SIGN_IN_BYTES }, async (request, reply) => {
    const { code } = read(byCode, request.body);
    const { account, key } = await admit(request, reply, (origin) =>
      signInCodes.inspect(code, origin),
    );
    return {
      account: { id: account.id, name: account.name },
      key: { name: key.name, prefix: key.prefix },
    };
  });

  app.delete('/session', async (request, reply) => {
    const cookie = readCookie(request);
    reply.header('set-cookie', cookieWithout(request));
    if (cookie && !(await consoleSessions.end(cookie.token, limits.originOf(request.ip)))) {
      const error = new GatewayError('invalid_api_key', 'This session has already ended.');
      await count(error, request, reply);
    }
    return reply.code(204).send();
  });
}

/** @throws GatewayError `invalid_request` */
function read<Data>(schema: z.ZodType<Data>, body: unknown): Data {
  const { data, error } = schema.safeParse(body);
  if (error) throw invalidInput(problemsOf(error));
  return data;
}
