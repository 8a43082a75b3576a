import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ConsoleSessions } from '../../accounts/console-sessions.ts';
import type { Keys } from '../../accounts/keys.ts';
import { type Limits, rateLimitExceeded } from '../../accounts/limits.ts';
import type { SignInCodes } from '../../accounts/sign-in-codes.ts';
import { GatewayError, invalidInput, problemsOf, toGatewayError } from '../../errors.ts';
import { expected } from '../../input.ts';
import { cookieWith, cookieWithout, readCookie } from '../console-cookie.ts';
import { assertFromConsole } from '../own-page.ts';
import { type Limiter, quotaHeaders } from '../rate-limit.ts';

const secret = z.string(expected('a string')).max(256, 'must not be longer than 256 characters');
const signIn = z.union([z.strictObject({ key: secret }), z.strictObject({ code: secret })], {
  error: 'must be {"key": …} or {"code": …}',
});

type Options = {
  keys: Pick<Keys, 'verify'>;
  consoleSessions: ConsoleSessions;
  signInCodes: Pick<SignInCodes, 'redeem'>;
  limits: Pick<Limits, 'originOf'>;
  limiter: Limiter;
};

/**
 * Serves the console's session at `/session`. `POST` exchanges an API key, or a one-time code, for a session's cookie;
 * `DELETE` signs out. A sign-in counts 1 against the key's account, and a failed one against its address.
 */
export async function serveSession(
  app: FastifyInstance,
  { keys, consoleSessions, signInCodes, limits, limiter }: Options,
) {
  app.post('/session', async (request, reply) => {
    assertFromConsole(request);
    const { data, error } = signIn.safeParse(request.body);
    if (error) throw invalidInput(problemsOf(error));
    const origin = limits.originOf(request.ip);
    const found = await ('key' in data
      ? keys.verify(data.key.trim(), origin)
      : signInCodes.redeem(data.code, origin)
    ).catch(toGatewayError);
    const { renewed: caller = found, ...quota } = await limiter.take(found, request.ip, 1);
    reply.headers(quotaHeaders(quota));
    if (!quota.allowed) throw rateLimitExceeded(quota);
    if (caller instanceof GatewayError) throw caller;
    const previous = readCookie(request);
    if (previous) await consoleSessions.end(previous.token);
    reply.header('set-cookie', cookieWith(request, await consoleSessions.begin(caller)));
    return reply.code(204).send();
  });

  app.delete('/session', async (request, reply) => {
    assertFromConsole(request);
    const cookie = readCookie(request);
    if (cookie) await consoleSessions.end(cookie.token);
    reply.header('set-cookie', cookieWithout(request));
    return reply.code(204).send();
  });
}
