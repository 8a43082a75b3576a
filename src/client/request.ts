import { ParleyError } from './errors.ts';

/** The error of an option that the client cannot use. */
export function misuse(message: string): ParleyError {
  return new ParleyError({ message, code: 'invalid_option' });
}

/** The address of a server without `/v1`. @throws ParleyError */
export function rootOf(baseUrl: string): string {
  if (!/^https?:\/\/[^@]+$/.test(baseUrl) || !URL.canParse(baseUrl))
    throw misuse('baseUrl must be an http or https address without a user.');
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/(\/v1)?\/*$/, '');
}

/** Joins headers; later ones win. */
export function headersOf(...all: Record<string, string | undefined>[]): Headers {
  const headers = new Headers();
  for (const [name, value] of all.flatMap(Object.entries<string | undefined>)) {
    // Headers hold only Latin-1, so each character is a byte of the value in UTF-8.
    if (value) headers.set(name, String.fromCharCode(...new TextEncoder().encode(value)));
  }
  return headers;
}
