import { Viewer } from '../../generated/operations/console.ts';
import { hasCode } from './code.ts';
import { CONSOLE_HEADERS } from './headers.ts';

/**
 * The response to the request that every screen begins with. The page loads this module first, so that the server answers
 * while the browser still compiles the other scripts. A page with a sign-in code asks for itself.
 */
let response = hasCode() ? undefined : requestViewer();

/** Asks who is signed in. @returns the response, past the cache of the GraphQL client. */
export function requestViewer(): Promise<Response> {
  const request = fetch('/graphql', {
    method: 'POST',
    headers: {
      ...CONSOLE_HEADERS,
      accept: 'application/json',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ documentId: Viewer.documentId }),
  });
  // The first query reports the failure.
  request.catch(() => {});
  return request;
}

/** Returns the response to the first request, once, if the body asks for the same operation. */
export function takeFirstResponse(body: unknown): Promise<Response> | undefined {
  if (typeof body !== 'string' || !body.includes(Viewer.documentId)) return undefined;
  const first = response;
  response = undefined;
  return first;
}
