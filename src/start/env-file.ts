import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { StartupError } from '../errors/errors.ts';
import { isSetting, otherForm } from './config.ts';

const MAX_BYTES = 65_536;

/** The settings of a start. */
export type Settings = {
  /** The environment, and for names that it lacks, the settings in `.env`. */
  values: NodeJS.ProcessEnv;
  /** One line about the variables in `.env` that are no settings of Parley; none: there are no such variables. */
  warning: string | undefined;
};

/**
 * Reads the settings from the environment and from the file `.env` of the working directory. Of the file, it takes only
 * Parley's own settings, because the folder may be anybody's: other variables, such as `NODE_OPTIONS`, could run code or
 * send requests elsewhere. The environment of the process stays as it is.
 *
 * @throws StartupError if the file cannot be read, or has more than 64 KiB.
 */
export async function readSettings(
  environment: NodeJS.ProcessEnv = process.env,
  path = '.env',
): Promise<Settings> {
  const given = Object.entries(parseEnv(await readText(path)));
  // A secret that the environment gives, as a value or as a file, also replaces the other form in `.env`.
  const isGiven = (name = '') => !!environment[name]?.trim();
  const own = given.filter(([name]) => isSetting(name) && !isGiven(otherForm(name)));
  const others = given.map(([name]) => name).filter((name) => !isSetting(name));
  return {
    values: { ...Object.fromEntries(own), ...environment },
    warning: others.length > 0 ? warningAbout(others.sort()) : undefined,
  };
}

/** The text of a file; empty if there is none, for example because a directory has the name. */
async function readText(path: string): Promise<string> {
  try {
    // Without waiting for the writer of a pipe.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile()) return '';
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES + 1));
    if (bytesRead <= MAX_BYTES) return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return '';
    throw new StartupError(`${path} cannot be read: ${code ?? 'unknown error'}.`, { cause: error });
  }
  throw new StartupError(`${path} has more than ${MAX_BYTES} bytes, which no settings need.`);
}

/** Names that the warning shows. */
const MAX_NAMES = 20;

function warningAbout(names: readonly string[]): string {
  // The file may hold any text; only names of variables are shown.
  const shown = names.filter((name) => /^\w{1,64}$/.test(name)).slice(0, MAX_NAMES);
  const rest = names.length - shown.length;
  const list = [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
  return `Ignored in .env, because they are not settings of Parley: ${list}. Set them in the environment if this process needs them.`;
}
