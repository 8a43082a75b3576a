import { send } from './requests.ts';

type Options = { url: string; version: string; fetch: typeof fetch; signal: AbortSignal };

/** The version of a server; `undefined` if it is no Parley. */
export async function serverVersion({
  url,
  fetch: fetcher,
  signal,
}: Omit<Options, 'version'>): Promise<string | undefined> {
  const { body } = await send(fetcher, `${url}/healthz`, {}, signal);
  const version =
    typeof body === 'object' && body !== null && 'version' in body ? body.version : undefined;
  return typeof version === 'string' ? version : undefined;
}

/** Says why a server does not understand the command, and what to do. */
export async function explainVersion({ url, version, ...rest }: Options): Promise<string> {
  const other = await serverVersion({ url, ...rest });
  if (other === undefined)
    return `The server at ${url} is no Parley server. Check the address: parley whoami shows the one in use.`;
  return `The server at ${url} runs Parley ${other}, which does not know this request of parley ${version}. Use the command of the version ${other}, or update the server.`;
}

/** Whether two versions have the same API: they differ in the last part at most, from 1.0.0 on in the last two. */
export function isCompatible(version: string, other: string): boolean {
  const partsOf = (text: string) => text.split('.').slice(0, text.startsWith('0.') ? 2 : 1);
  return partsOf(version).join('.') === partsOf(other).join('.');
}
