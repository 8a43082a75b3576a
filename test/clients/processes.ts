import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The folder of the clients, with its packages. */
export const DIRECTORY = import.meta.dirname;

/** Long enough for the slowest machine, so a process that reaches it hangs. */
const PROCESS_LIMIT_MS = 300_000;
const INSTALL_LIMIT_MS = 600_000;

type Options = { env?: NodeJS.ProcessEnv; signal: AbortSignal };

/**
 * Runs a file of this folder with Node.js to its end.
 *
 * @returns the last line of its output.
 * @throws Error with the end of its output, if it fails or takes longer than five minutes.
 */
export function runFile(file: string, args: string[], options: Options): Promise<string> {
  return start(process.execPath, [file, ...args], { ...options, timeout: PROCESS_LIMIT_MS });
}

/** Runs a command of an installed package, like `runFile`. */
export function run(command: string, args: string[], options: Options): Promise<string> {
  return runFile(join('node_modules/.bin', command), args, options);
}

/** Installs the packages of this folder, unless the installed ones are as new as their lock. */
export async function install(signal: AbortSignal): Promise<void> {
  const changedAt = async (path: string) =>
    (await stat(join(DIRECTORY, path)).catch(() => undefined))?.mtimeMs ?? 0;
  const lock = await changedAt('package-lock.json');
  if ((await changedAt('node_modules/.package-lock.json')) >= lock) return;
  console.log('Installing the packages of test/clients.');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // The whole environment, because npm may need proxies and certificates.
  const { env } = process;
  await start('npm', args, { env, signal, timeout: INSTALL_LIMIT_MS });
}

/** The version of the Python package, because pip has no lock. */
const PYTHON_PACKAGE = 'openai==3.22.1';

/** Installs the package `openai` for Python. @returns its folder; `undefined` without Python and pip. */
export async function installPython(signal: AbortSignal): Promise<string | undefined> {
  const { env } = process;
  const pip = (...args: string[]) =>
    start('python3', ['-m', 'pip', ...args], { env, signal, timeout: INSTALL_LIMIT_MS });
  try {
    await pip('--version');
  } catch {
    return undefined;
  }
  const folder = join(DIRECTORY, 'build/python');
  await pip('install', '--quiet', '--target', folder, PYTHON_PACKAGE);
  return folder;
}

/** Runs a Python program of this folder, like `runFile`. @param folder of its packages. */
export function runPython(file: string, folder: string, options: Options): Promise<string> {
  const env = { ...options.env, PYTHONPATH: folder };
  return start('python3', [file], { ...options, env, timeout: PROCESS_LIMIT_MS });
}

async function start(
  file: string,
  args: string[],
  { env, signal, timeout }: Options & { timeout: number },
): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  try {
    const { stdout } = await promisify(execFile)(file, args, {
      cwd: DIRECTORY,
      env: { PATH, HOME, NO_COLOR: '1', ...env },
      signal,
      timeout,
      killSignal: 'SIGKILL',
      maxBuffer: 16 * 1024 * 1024,
    });
    return stdout.trimEnd().split('\n').at(-1) ?? '';
  } catch (error) {
    const {
      killed,
      stdout = '',
      stderr = '',
    } = error as { killed?: boolean; stdout?: string; stderr?: string };
    const reason = killed ? `did not end within ${timeout / 1_000} seconds` : 'failed';
    throw new Error(`${reason}\n${`${stdout}${stderr}`.trim().slice(-4_000)}`, { cause: error });
  }
}
