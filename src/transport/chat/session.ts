import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { rateLimitExceeded } from '../../accounts/limits.ts';
import { type FindVisited, visitorOf } from '../../accounts/visitors.ts';
import type { Visits } from '../../channels/web/visits.ts';
import { type GatewayError, invalidInput, problemsOf } from '../../errors/errors.ts';
import { toGatewayError } from '../../errors/mask.ts';
import { expected } from '../../text/input.ts';
import type { Limiter } from '../rate-limit.ts';
import { quotaHeaders } from '../request-admission.ts';
import { mayVisit, nothingHere, visitRefused } from './origin.ts';

const visit = z.strictObject(
  {
    resume: z
      .string(expected('a string'))
      .max(4_096, 'must not be longer than 4,096 characters')
      .optional(),
  },
  { error: 'must be {} or {"resume": …}' },
);

const MAX_VISIT_BYTES = 16 * 1024;

export type VisitOptions = {
  findVisited: FindVisited;
  visits: Visits;
  limiter: Limiter;
};

/**
 * Serves `POST /chat/:bot/session`, which begins a visit of a bot's chat page, or continues one. The visit counts 1
 * against the bot's account, and a refused one against its address.
 */
export async function serveVisits(
  app: FastifyInstance,
  { findVisited, visits, limiter }: VisitOptions,
) {
  const options = { bodyLimit: MAX_VISIT_BYTES };
  app.post<{ Params: { bot: string } }>('/chat/:bot/session', options, async (request, reply) => {
    const count = async (counted: Parameters<Limiter['take']>[0]) => {
      const quota = await limiter.take(counted, request.ip, 1);
      reply.headers(quotaHeaders(quota));
      if (!quota.allowed) throw rateLimitExceeded(quota);
    };
    const refuse = async (error: GatewayError) => {
      await count(error);
      return error;
    };

    const origin = await limiter.admitLookup(request);
    const { data, error } = visit.safeParse(request.body ?? {});
    if (error) throw await refuse(invalidInput(problemsOf(error)));
    const visited = await findVisited(request.params.bot, origin);
    if (!visited) throw await refuse(nothingHere());
    if (!mayVisit(request, visited.bot)) throw await refuse(visitRefused());
    const { sessionId, ...answer } = await (data.resume === undefined
      ? visits.begin(visited.bot, request.ip)
      : visits.continue(visited.bot, data.resume)
    ).catch(async (problem) => {
      throw await refuse(toGatewayError(problem));
    });
    await count(visitorOf(visited, sessionId, answer.expiresAt));
    return answer;
  });
}
