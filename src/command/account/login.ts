import { text } from 'node:stream/consumers';
import { AuthenticationError, ParleyError } from '../../client/index.ts';
import { Viewer } from '../../generated/operations/command.ts';
import type { Context } from '../context.ts';
import { Refusal, UsageError } from '../errors.ts';
import { connectTo } from '../server/connection.ts';
import { profilePath, readProfiles, writeProfiles } from '../server/profiles.ts';
import { isCompatible, serverVersion } from '../server/server-version.ts';
import { DEFAULT_URL, originOf } from '../server/target.ts';
import { openPrompts } from '../terminal/prompts.ts';

/** Stores a key that the server accepts, under the name of a profile, and makes the profile the current one. */
export async function login(address: string | undefined, context: Context): Promise<void> {
  const { environment, terminal, print, signal, version } = context;
  const given = address ?? environment.url ?? DEFAULT_URL;
  const url = originOf(given, address === undefined ? 'PARLEY_URL' : 'URL');
  const name = context.profileName ?? 'default';
  const path = profilePath(environment);
  const all = await readProfiles(path);
  const existing = all.profiles.find((profile) => profile.name === name);
  if (existing && existing.url !== url)
    throw new Refusal(
      `The profile "${name}" is for ${existing.url}. Name another one, parley login ${url} --profile NAME, or remove it first: parley logout${name === 'default' ? '' : ` --profile ${name}`}.`,
    );
  if (isInsecure(url))
    terminal.note(`Warning: ${url} is not encrypted. Others on the network can read the key.`);
  const apiKey = await askForKey(context);
  const target = { url, apiKey, bot: existing?.bot, profile: name };
  const { graphql, fetch: fetcher } = connectTo(target, context);
  const { viewer } = await graphql.run(Viewer, {}, signal).catch((error: unknown) => {
    throw refused(error) ? new Refusal(`${url} refuses the key. Nothing was stored.`) : error;
  });
  const profile = { name, url, apiKey, ...(existing?.bot && { bot: existing.bot }) };
  const others = all.profiles.filter((other) => other.name !== name);
  await writeProfiles(path, { current: name, profiles: [...others, profile] });
  const server = await serverVersion({ url, fetch: fetcher, signal }).catch(() => undefined);
  if (server !== undefined && !isCompatible(version, server))
    terminal.note(
      `Warning: the server runs Parley ${server}, the command is ${version}. Some commands may not work.`,
    );
  if (environment.apiKey !== undefined)
    terminal.note('Warning: PARLEY_API_KEY is set. It wins over the stored key.');
  const { account, apiKey: key } = viewer;
  await print({ profile: name, url, account: account.name, key: key.name, stored: path }, () =>
    [
      `Logged in to ${url} as ${account.name}, with the key "${key.name}".`,
      `The key is stored in ${path}, in the profile "${name}".`,
    ].join('\n'),
  );
}

/** Reads the key from a prompt without echo, or from stdin. */
async function askForKey({ terminal }: Context): Promise<string> {
  const entered = terminal.stdin.isTTY
    ? terminal.canAsk && (await (await openPrompts(terminal)).secret('API key'))
    : await text(terminal.stdin);
  const key = (entered || '').trim();
  if (key === '')
    throw new UsageError('No API key is given. Pipe it: parley login < FILE, or use a terminal.');
  // The values of headers are visible ASCII characters.
  if (!/^[!-~]+$/.test(key))
    throw new Refusal('That is no API key: it has spaces or special characters.');
  return key;
}

function refused(error: unknown): boolean {
  return (
    error instanceof AuthenticationError ||
    (error instanceof ParleyError && /_api_key$/.test(error.code))
  );
}

/** Whether a key would cross a network unencrypted. */
function isInsecure(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}
