import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writePrivateFile } from '../../storage/private-file.ts';

/** How long a browser may take to start and to read the file. */
export const KEPT_MS = 10_000;

/** The programs that open a file in the user's browser. */
const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

const SIGNALS = ['SIGTERM', 'SIGHUP'] as const;

type Options = {
  home: string | undefined;
  /** Deletes the file at once. */
  signal: AbortSignal;
  /** Milliseconds until the file is deleted. */
  keptMs?: number;
};

/**
 * Opens a secret link in the user's browser. All users of a machine can read the arguments of its programs, so the program
 * gets the path of a file that redirects to the link. Only the user can read the file, and it is deleted before the result.
 *
 * @param link has only characters of URLs.
 * @returns whether the program that opens files accepted it.
 */
export async function openSecretLink(
  link: string,
  { home, signal, keptMs = KEPT_MS }: Options,
): Promise<boolean> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const name of SIGNALS) process.once(name, stop);
  const directory = await makeDirectory(home);
  try {
    const path = join(directory, 'sign-in.html');
    await writePrivateFile(path, redirectTo(link));
    const either = AbortSignal.any([signal, stopping.signal]);
    const end = delay(keptMs, true, { signal: either }).catch(() => true);
    // Some openers run until their browser ends.
    return (await Promise.race([isOpened(path), end])) && (await end);
  } finally {
    await rm(directory, { recursive: true, force: true });
    for (const name of SIGNALS) process.off(name, stop);
  }
}

/** Makes a private directory. Browsers in a sandbox read only plain directories of the user's home. */
async function makeDirectory(home: string | undefined): Promise<string> {
  const make = (place: string) => mkdtemp(join(place, 'parley-sign-in-'));
  const directory = await make(home ?? tmpdir()).catch(() => make(tmpdir()));
  await chmod(directory, 0o700);
  return directory;
}

function redirectTo(link: string): string {
  const lines = [
    '<!doctype html>',
    '<meta charset="utf-8">',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0; url=${link}">`,
    '<title>Parley</title>',
    `<p><a href="${link}">Continue to the console</a></p>`,
  ];
  return `${lines.join('\n')}\n`;
}

/** @returns whether the program that opens files ended without an error. */
async function isOpened(path: string): Promise<boolean> {
  const [program, ...words] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...words, path], { stdio: 'ignore', detached: true });
  child.unref();
  const [code] = await once(child, 'exit').catch(() => [undefined]);
  return code === 0;
}
