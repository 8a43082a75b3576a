import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { profilePath, readProfiles, writeProfiles } from '../server/profiles.ts';
import { findProfile } from '../server/target.ts';

/** Removes a profile with its key. The key stays valid on the server. */
export async function logout({
  environment,
  profileName,
  terminal,
  print,
}: Context): Promise<void> {
  const path = profilePath(environment);
  const all = await readProfiles(path);
  const profile = findProfile(all, profileName);
  if (profile === undefined) throw new Refusal('No key is stored. There is nothing to remove.');
  const profiles = all.profiles.filter((other) => other !== profile);
  const current = all.current === profile.name ? (profiles[0]?.name ?? 'default') : all.current;
  await writeProfiles(path, { current, profiles });
  await print({ profile: profile.name, url: profile.url, removed: true }, () =>
    [
      `Removed the key for ${profile.url} (profile "${profile.name}").`,
      'The key itself is still valid. Revoke it with parley keys revoke, or in the console.',
    ].join('\n'),
  );
  if (environment.apiKey !== undefined)
    terminal.note('Warning: PARLEY_API_KEY is set. Commands still use it.');
}
