import { ActiveDeployment } from '../../generated/operations/command.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { connectTo } from '../server/connection.ts';
import { type Profiles, profilePath, readProfiles, writeProfiles } from '../server/profiles.ts';
import { findProfile } from '../server/target.ts';
import { textTable } from '../terminal/text-table.ts';

/** Sets the default bot of a profile. With `--profile`, makes that profile the current one. Without both, lists the profiles. */
export async function use(bot: string | undefined, context: Context): Promise<void> {
  const { environment, profileName, print } = context;
  const path = profilePath(environment);
  const all = await readProfiles(path);
  if (bot === undefined && profileName === undefined) return list(all, context);
  const profile = findProfile(all, profileName);
  if (profile === undefined)
    throw new Refusal('There is no profile to keep a default bot in. Run parley login first.');
  if (bot !== undefined) await assertBot(bot, { ...profile, bot, profile: profile.name }, context);
  const changed = { ...profile, ...(bot !== undefined && { bot }) };
  const profiles = all.profiles.map((other) => (other === profile ? changed : other));
  await writeProfiles(path, { current: profile.name, profiles });
  const { name, url } = changed;
  await print({ profile: name, url, bot: changed.bot ?? null }, () =>
    changed.bot === undefined
      ? `Commands use the profile "${name}" (${url}).`
      : `Commands use the bot "${changed.bot}" of the profile "${name}" (${url}).`,
  );
}

/** @throws Refusal with the nearest bot, if the key may not use the bot. */
async function assertBot(
  botId: string,
  target: Parameters<typeof connectTo>[0],
  context: Context,
): Promise<void> {
  const { graphql, forBot } = connectTo(target, context);
  const variables = { botId, environment: 'PRODUCTION' as const };
  await forBot(botId, () => graphql.run(ActiveDeployment, variables, context.signal));
}

async function list({ current, profiles }: Profiles, { terminal, print }: Context): Promise<void> {
  const value = profiles.map(({ name, url, bot }) => ({
    name,
    url,
    bot: bot ?? null,
    current: name === current,
  }));
  await print(value, () =>
    value.length === 0
      ? 'There are no profiles. Run parley login to make one.'
      : textTable(
          [{ title: '' }, { title: 'PROFILE' }, { title: 'SERVER' }, { title: 'DEFAULT BOT' }],
          value.map((one) => [one.current ? '*' : '', one.name, one.url, one.bot ?? '']),
          terminal,
        ),
  );
}
