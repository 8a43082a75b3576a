import type { Call } from './call.ts';

/** The parts of a documented REST request. The key is not one of them. */
export type RestRequest = { path: string; headers: [name: string, value: string][]; body: string };

/** The documented REST request of a call. */
export function restRequest(call: Call): RestRequest {
  const { botId, message, sessionId, environment, context, onBusy, idempotencyKey } = call;
  const isStaging = environment === 'STAGING';
  const body = {
    message,
    ...(context && { context }),
    ...(call.isStreamed && { stream: true }),
    ...(isStaging && { environment: 'staging' }),
  };
  const headers: [string, string][] = [['Content-Type', 'application/json']];
  if (sessionId) headers.push(['X-Session-ID', sessionId]);
  if (call.isStreamed) headers.push(['Accept', 'text/event-stream']);
  if (onBusy === 'REJECT') headers.push(['X-On-Busy', 'reject']);
  if (idempotencyKey) headers.push(['Idempotency-Key', idempotencyKey]);
  return {
    path: `/v1/bots/${encodeURIComponent(botId)}/chat`,
    headers,
    body: JSON.stringify(body),
  };
}

/** The options of a request with an API key in place of the session's cookie. */
export function withKey(secret: string, headers: [name: string, value: string][] = []) {
  const authorization: [string, string] = ['Authorization', `Bearer ${secret}`];
  return { headers: [authorization, ...headers], credentials: 'omit' } satisfies RequestInit;
}

/** A header's value for `fetch`, which takes only Latin-1: each character is a byte of the value in UTF-8. */
export function asHeaderValue(value: string): string {
  return String.fromCharCode(...new TextEncoder().encode(value));
}
