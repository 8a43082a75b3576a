/** The environment variables that the command reads. Only this file reads them. */
export type Environment = {
  /** `PARLEY_API_KEY`: replaces the profile's key. */
  apiKey: string | undefined;
  /** `PARLEY_URL`: replaces the profile's server. */
  url: string | undefined;
  /** `PARLEY_PROFILE`: the profile to use when `--profile` names none. */
  profile: string | undefined;
  /** The directory of the user's configuration files. */
  configDirectory: string | undefined;
  home: string | undefined;
  /** `NO_COLOR` is set and not empty, or the terminal has no colours. */
  noColor: boolean;
  /** All variables: `--var NAME` reads one, and child processes inherit them. */
  all: Readonly<Record<string, string | undefined>>;
};

/** Source of `NO_COLOR`: https://no-color.org. Source of `XDG_CONFIG_HOME`: the XDG base directory specification. */
export function readEnvironment(all: NodeJS.ProcessEnv = process.env): Environment {
  const text = (name: string) => all[name]?.trim() || undefined;
  const isWindows = process.platform === 'win32';
  return {
    apiKey: text('PARLEY_API_KEY'),
    url: text('PARLEY_URL'),
    profile: text('PARLEY_PROFILE'),
    configDirectory: text('XDG_CONFIG_HOME') ?? (isWindows ? text('APPDATA') : undefined),
    home: text('HOME') ?? text('USERPROFILE'),
    noColor: !!all.NO_COLOR || all.TERM === 'dumb',
    all,
  };
}
