import type { FastifyRequest } from 'fastify';
import { MAX_SESSION_SECONDS } from '../accounts/console-sessions.ts';

/** The token of a console session, from a cookie. A class, so that no header's text can pass for it. */
export class SessionCookie {
  readonly token: string;

  constructor(token: string) {
    this.token = token;
  }
}

/**
 * @returns the session's cookie of a request, unchecked. `undefined` if the request has several of its name: another page
 *   of the same site may have set one of them.
 */
export function readCookie(request: FastifyRequest): SessionCookie | undefined {
  const name = nameFor(request);
  const [token, ...others] = (request.headers.cookie ?? '').split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.split('=');
    return key.trim() === name ? [value.join('=').trim()] : [];
  });
  return token === undefined || others.length > 0 ? undefined : new SessionCookie(token);
}

/** The `Set-Cookie` header that keeps a session's token in the browser, out of reach of scripts and other sites. */
export function cookieWith(request: FastifyRequest, token: string): string {
  return `${nameFor(request)}=${token}; Max-Age=${MAX_SESSION_SECONDS}; ${attributesFor(request)}`;
}

/** The `Set-Cookie` header that removes the token. */
export function cookieWithout(request: FastifyRequest): string {
  return `${nameFor(request)}=; Max-Age=0; ${attributesFor(request)}`;
}

function attributesFor(request: FastifyRequest): string {
  return `Path=/; HttpOnly; SameSite=Strict${isSecure(request) ? '; Secure' : ''}`;
}

/** Over https only this host can set the cookie: no other subdomain, and no page over http (RFC 6265bis, section 4.1.3). */
function nameFor(request: FastifyRequest): string {
  return isSecure(request) ? '__Host-parley_session' : 'parley_session';
}

/** Whether the browser uses https. An unknown proxy that ends TLS shows only in the page's origin. */
function isSecure({ protocol, headers: { origin } }: FastifyRequest): boolean {
  return protocol === 'https' || origin?.startsWith('https:') === true;
}
