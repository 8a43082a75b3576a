import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writePrivateFile } from '../../storage/private-file.ts';
import type { Environment } from '../environment.ts';
import { Refusal, systemCode } from '../errors.ts';

/** A server with the key for it. */
export type Profile = {
  name: string;
  /** The origin of the server. */
  url: string;
  apiKey: string;
  /** The bot of commands without `--bot`. */
  bot?: string;
};

export type Profiles = {
  /** The name of the profile that commands use without `--profile`. */
  current: string;
  profiles: Profile[];
};

const NO_PROFILES: Profiles = { current: 'default', profiles: [] };

/** @returns the path of the file with the profiles, such as `~/.config/parley/profiles.json`. */
export function profilePath({ configDirectory, home }: Environment): string {
  if (configDirectory !== undefined) return join(configDirectory, 'parley', 'profiles.json');
  if (home !== undefined) return join(home, '.config', 'parley', 'profiles.json');
  throw new Refusal('HOME is not set. Set HOME, or use PARLEY_API_KEY and PARLEY_URL.');
}

/**
 * Reads the profiles. Without a file there are none.
 *
 * @throws Refusal if other users may read the file, if it is not valid, or if two profiles have one name.
 */
export async function readProfiles(path: string): Promise<Profiles> {
  let text: string;
  try {
    assertPrivate(path, (await stat(path)).mode);
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return NO_PROFILES;
    throw new Refusal(`${path} cannot be read: ${code ?? 'unknown error'}.`, { cause: error });
  }
  return parseProfiles(path, text);
}

/** Windows has no such modes; there, the directory belongs to the user. */
function assertPrivate(path: string, mode: number): void {
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  const octal = (mode & 0o777).toString(8);
  throw new Refusal(
    `${path} holds API keys, but other users can access it (mode ${octal}). Run: chmod 600 ${path}`,
  );
}

function parseProfiles(path: string, text: string): Profiles {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The error of JSON.parse quotes the text, which holds keys.
    throw invalid(path);
  }
  if (!isProfiles(value)) throw invalid(path);
  const names = value.profiles.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw new Refusal(
      `${path} has two profiles named "${repeated}". Rename or remove one of them in the file.`,
    );
  return value;
}

function invalid(path: string): Refusal {
  return new Refusal(`${path} is not a valid file of profiles. Remove it, then run: parley login`);
}

function isProfiles(value: unknown): value is Profiles {
  return (
    isRecord(value) &&
    typeof value.current === 'string' &&
    Array.isArray(value.profiles) &&
    value.profiles.every(
      (profile: unknown) =>
        isRecord(profile) &&
        ['name', 'url', 'apiKey'].every((field) => typeof profile[field] === 'string') &&
        ['string', 'undefined'].includes(typeof profile.bot),
    )
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/**
 * Replaces the file as a whole: a reader sees the old or the new content, and a failed write keeps the old one. Without
 * profiles, the file is removed.
 *
 * @throws Refusal that says what to do, in one line.
 */
export async function writeProfiles(path: string, profiles: Profiles): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    if (profiles.profiles.length === 0) return await rm(path, { force: true });
    await makeDirectory(dirname(dirname(path)));
    await makeDirectory(dirname(path));
    await writePrivateFile(temporary, `${JSON.stringify(profiles, null, 2)}\n`);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw new Refusal(`The key cannot be stored in ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Makes a private directory unless it exists. The recursive form of `mkdir` never ends on some file systems, such as /proc. */
async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
  });
}

const INSTEAD = 'or set PARLEY_API_KEY and PARLEY_URL instead';

function reasonOf(error: unknown): string {
  const code = systemCode(error);
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return `the disk is full. Free some space, ${INSTEAD}.`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOENT':
    case 'ENOTDIR':
      return `the directory is not writable. Make it writable, ${INSTEAD}.`;
    default:
      return `${code ?? 'unknown error'}. Check the path, ${INSTEAD}.`;
  }
}
