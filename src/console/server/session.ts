import { CONSOLE_HEADERS } from './headers.ts';
import { AWAY, type Problem, problemIn } from './problem.ts';
import { createStore } from './store.ts';

/** Whether the browser has a session: `unknown` until the first answer, `ended` after one that had worked. */
export const session = createStore<'unknown' | 'none' | 'open' | 'ended'>('unknown');

/** Exchanges an API key or a one-time code for a session. @returns the problem if that failed. */
export function signIn(secret: { key: string } | { code: string }): Promise<Problem | undefined> {
  return send('POST', secret);
}

/** Ends the session. @returns the problem if that failed. */
export function signOut(): Promise<Problem | undefined> {
  return send('DELETE');
}

async function send(method: 'POST' | 'DELETE', body?: object): Promise<Problem | undefined> {
  try {
    const response = await fetch('/session', {
      method,
      headers: { ...CONSOLE_HEADERS, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.ok ? undefined : await problemFrom(response);
  } catch {
    return AWAY;
  }
}

async function problemFrom(response: Response): Promise<Problem> {
  const answer: unknown = await response.json().catch(() => null);
  const error = isRecord(answer) && isRecord(answer.error) ? answer.error : {};
  const message = typeof error.message === 'string' ? error.message : response.statusText;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  return { ...problemIn({ ...error, retryAfter: error.retry_after }, message), requestId };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
