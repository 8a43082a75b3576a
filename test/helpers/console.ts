import { expect } from 'vitest';
import type { ServerProcess } from './server.ts';

/** A server by its base URL. */
type Server = { url: string };

/** The headers that a browser and the console add to a request of the console's own page. */
export function ownHeaders({ url }: Server): Record<string, string> {
  return { origin: url, 'sec-fetch-site': 'same-origin', 'x-parley-console': '1' };
}

/** Sends a sign-in. @param headers replace the headers of the console's own page. */
export function postSession(
  app: Server,
  body: unknown,
  headers: Record<string, string> = ownHeaders(app),
): Promise<Response> {
  return fetch(`${app.url}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** The `name=value` part of the cookie that an answer sets. */
export function cookieIn({ headers }: Response): string {
  const [cookie = ''] = headers.getSetCookie();
  return cookie.split(';')[0] ?? '';
}

/** Signs in with a key. @returns the cookie for further requests. */
export async function signIn(app: Server, key: string): Promise<string> {
  const answer = await postSession(app, { key });
  if (answer.status !== 204) throw new Error(`The sign-in failed: ${await answer.text()}`);
  return cookieIn(answer);
}

const VIEWER = '{ viewer { account { id } } }';

/** Queries the signed-in account. @returns the account's id, or the error's code. */
export async function viewerBy(app: Server, headers: Record<string, string>): Promise<string> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: VIEWER }),
  });
  const { data, errors = [] } = (await response.json()) as {
    data?: { viewer: { account: { id: string } } } | null;
    errors?: { extensions: { code: string } }[];
  };
  return data?.viewer.account.id ?? String(errors[0]?.extensions.code);
}

/** Signs in with the link that the first start prints. The link works once. */
export async function signInByLink(server: ServerProcess): Promise<void> {
  const code = /\/sign-in#code=(\S+) /.exec(server.output())?.[1];
  expect((await postSession(server, { code })).status).toBe(204);
  expect((await postSession(server, { code })).status).toBe(401);
}
