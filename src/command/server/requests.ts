import { performance } from 'node:perf_hooks';
import { ConnectionError } from '../../client/index.ts';
import type { Context } from '../context.ts';

/** The longest wait for the beginning of an answer of a GraphQL request or a probe. */
const ANSWER_LIMIT_MS = 60_000;

/**
 * The `fetch` of all requests. With `--debug` it logs each request without its headers and bodies, because these hold
 * keys and the values of variables.
 */
export function createFetch({
  debug,
  terminal,
}: Pick<Context, 'debug' | 'terminal'>): typeof fetch {
  if (!debug) return fetch;
  return async (input, init) => {
    const { pathname, origin } = new URL(input instanceof Request ? input.url : input);
    const start = performance.now();
    const line = (outcome: string) => {
      const time = Math.round(performance.now() - start);
      const method = init?.method ?? 'GET';
      terminal.note(`debug: ${method} ${origin}${pathname} ${outcome} in ${time} ms`);
    };
    try {
      const response = await fetch(input, init);
      const id = response.headers.get('x-request-id');
      line(`${response.status}${id ? `, request ${id}` : ''}`);
      return response;
    } catch (error) {
      line('failed');
      throw error;
    }
  };
}

/** A request with a time limit for its whole answer. @throws ConnectionError if the server does not answer. */
export async function send(
  fetcher: typeof fetch,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
): Promise<{ status: number; body: unknown }> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]);
  const { origin } = new URL(url);
  let response: Response;
  let text: string;
  try {
    response = await fetcher(url, { ...init, signal: limited });
    text = await response.text();
  } catch (error) {
    signal.throwIfAborted();
    throw new ConnectionError(`Cannot reach ${origin}.`, error);
  }
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return { status: response.status, body: undefined };
  }
}
