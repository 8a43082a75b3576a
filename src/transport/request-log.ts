import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '../accounts/client-network.ts';
import { GatewayError } from '../errors/errors.ts';
import { redactSecrets } from '../text/secret-redaction.ts';
import { createRefusalLog } from './refusal-log.ts';

/** The levels that hide the lines of requests. */
const QUIET = ['warn', 'error', 'fatal', 'silent'];
/** Characters of a logged text of a request. */
const MAX_LENGTH = 256;

/**
 * Logs each completed request: its method, path, status, time and run. Of the refused requests of one address without a
 * valid credential, it writes one line a second, with the number of those before it.
 */
export function logRequests(app: FastifyInstance): void {
  if (QUIET.includes(app.log.level)) return;
  const refusals = createRefusalLog();
  app.addHook('onClose', async () => refusals.flush());
  app.addHook('onResponse', async (request, reply) => {
    const { method, url, ip, routeOptions, log } = request;
    const fields = {
      method,
      path: routeOptions.config.secretPath ? routeOptions.url : loggedPath(url),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      runId: reply.getHeader('x-run-id'),
      ip: cut(redactSecrets(ip ?? '')),
    };
    const write = (suppressed: number) =>
      log.info({ ...fields, ...(suppressed > 0 && { suppressed }) }, 'Request completed.');
    if (await isRefused(request, reply)) refusals.note(networkOf(ip), write);
    else write(0);
  });
}

/** The path of a URL for the log and for errors: at most 256 characters, without secrets, user-info and query. */
export function loggedPath(url: string): string {
  const [path = ''] = url.split('?');
  const open = path
    .replace(/\/\/[^/]*@/, '//[redacted]@')
    // The path of a webhook is secret, also for a method that has no route.
    .replace(/(\/channels\/telegram\/)[^/]+/i, '$1[redacted]');
  return cut(redactSecrets(open));
}

function cut(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

/**
 * Whether a request without a valid credential was refused. GraphQL refuses a caller or a limit with the status 200 too.
 */
async function isRefused(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { admission, sender, bodyOwner } = request;
  const caller = admission?.authentication ?? (await sender?.catch(() => null));
  const hasCredential = bodyOwner !== null || (caller && !(caller instanceof GatewayError));
  if (hasCredential || reply.statusCode >= 500) return false;
  return (
    reply.statusCode >= 400 || reply.hasHeader('retry-after') || caller instanceof GatewayError
  );
}
