import type { Context } from '../context.ts';
import { Refusal, UsageError } from '../errors.ts';
import { didYouMean } from '../line/nearest.ts';
import { type Profile, type Profiles, profilePath, readProfiles } from './profiles.ts';

export const DEFAULT_URL = 'http://127.0.0.1:4000';

/** The server that a command calls, and the key for it. */
export type Target = {
  url: string;
  apiKey: string;
  /** The bot of commands without `--bot`. */
  bot: string | undefined;
  /** The name of the profile that gave the key; none: the environment did. */
  profile: string | undefined;
};

/**
 * Finds the server and the key: `PARLEY_API_KEY` and `PARLEY_URL` win over the profile.
 *
 * @throws Refusal if there is no key, or if the profile's key would go to another server than the profile's.
 */
export async function findTarget(context: Context): Promise<Target> {
  const { environment } = context;
  const url = environment.url === undefined ? undefined : originOf(environment.url, 'PARLEY_URL');
  const profile = await selectedProfile(context);
  if (environment.apiKey !== undefined)
    return {
      url: url ?? profile?.url ?? DEFAULT_URL,
      apiKey: environment.apiKey,
      bot: profile?.bot,
      profile: undefined,
    };
  if (profile === undefined)
    throw new Refusal('There is no API key. Run parley login, or set PARLEY_API_KEY.');
  if (url !== undefined && url !== profile.url)
    throw new Refusal(
      `PARLEY_URL is ${url}, but the key of the profile "${profile.name}" is for ${profile.url}. Set PARLEY_API_KEY too, or unset PARLEY_URL.`,
    );
  return { url: profile.url, apiKey: profile.apiKey, bot: profile.bot, profile: profile.name };
}

/** The profile of `--profile`, `PARLEY_PROFILE` or the file. With a key in the environment, a broken file is ignored. */
async function selectedProfile({
  environment,
  profileName,
}: Context): Promise<Profile | undefined> {
  const hasKey = environment.apiKey !== undefined;
  if (hasKey && environment.home === undefined && environment.configDirectory === undefined)
    return undefined;
  const all = await readProfiles(profilePath(environment)).catch((error: unknown) => {
    if (hasKey && profileName === undefined) return undefined;
    throw error;
  });
  return all && findProfile(all, profileName);
}

/** @throws Refusal if a named profile does not exist. */
export function findProfile(
  { current, profiles }: Profiles,
  name: string | undefined,
): Profile | undefined {
  const found = profiles.find((profile) => profile.name === (name ?? current));
  if (found !== undefined || name === undefined) return found;
  const names = profiles.map((profile) => profile.name);
  throw new Refusal(
    `There is no profile "${name}".${didYouMean(name, names)} Run parley login --profile ${name} to create it.`,
  );
}

/** @param name where the address comes from. @throws UsageError if it is no origin. */
export function originOf(address: string, name: string): string {
  const isHost = /^([\w-]+\.[\w.-]+|localhost)(:\d+)?$/.test(address);
  const text = isHost ? `https://${address}` : address;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    /^\/(v1\/?)?$/.test(url.pathname) &&
    `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (isOrigin) return url.origin;
  throw new UsageError(
    `${name} must be the origin of a server, such as https://bots.example or ${DEFAULT_URL}.`,
  );
}
