import { CONSOLE_HEADERS } from './headers.ts';
import { AWAY, type Problem, problemFrom } from './problem.ts';
import { createStore } from './store.ts';

/**
 * Whether the browser has a session: `unknown` until the first answer, `none` while no answer has proved one, `ended`
 * after one that had worked, `blocked` if the browser did not keep the cookie of a new one.
 */
export const session = createStore<'unknown' | 'none' | 'open' | 'ended' | 'blocked'>('unknown');

/** Whether no request has used the session of the last sign-in yet. */
let isUnused = false;

/** Notes that the server accepted the session. */
export function noteSession(): void {
  isUnused = false;
  session.set('open');
}

/** Notes an answer that does not tell whether the browser has a session, such as the answer of a rate limit or a proxy. */
export function noteRefusal(): void {
  if (session.get() === 'unknown') session.set('none');
}

/** Notes that the server refused the session. */
export function noteSessionEnd(): void {
  const isFirst = session.get() === 'unknown' || session.get() === 'none';
  if (isUnused) session.set('blocked');
  else if (session.get() !== 'blocked') session.set(isFirst ? 'none' : 'ended');
  isUnused = false;
}

/** The account and the key that a one-time code signs in. */
export type CodeOwner = {
  account: { id: string; name: string };
  key: { name: string; prefix: string };
};

/** Reads whom a one-time code signs in, without using it up. */
export async function inspectCode(code: string): Promise<CodeOwner | { problem: Problem }> {
  try {
    const response = await request('POST', '/session/code', { code });
    return response.ok ? await response.json() : { problem: await problemFrom(response) };
  } catch {
    return { problem: AWAY };
  }
}

/** Exchanges an API key or a one-time code for a session. @returns the problem if that failed. */
export async function signIn(
  secret: { key: string } | { code: string },
): Promise<Problem | undefined> {
  const problem = await send('POST', secret);
  isUnused = !problem;
  return problem;
}

/** Ends the session. @returns the problem if that failed. */
export function signOut(): Promise<Problem | undefined> {
  return send('DELETE');
}

function request(method: 'POST' | 'DELETE', path: string, body?: object): Promise<Response> {
  return fetch(path, {
    method,
    headers: { ...CONSOLE_HEADERS, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function send(method: 'POST' | 'DELETE', body?: object): Promise<Problem | undefined> {
  try {
    const response = await request(method, '/session', body);
    return response.ok ? undefined : await problemFrom(response);
  } catch {
    return AWAY;
  }
}
