import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

export const ROOT = new URL('../..', import.meta.url).pathname;

/** Variables of the tests, and those that npm gives to the scripts that it runs. The registry and its certificates stay. */
const OF_TESTS =
  /^(npm_(?!config_(registry|cafile)$)|VITEST|TEST|NODE_(?!EXTRA_CA_CERTS$)|INIT_CWD$|CI$|DEV$|PROD$|MODE$)/;

/** The environment of a person on this machine, outside of the tests and of npm. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const { PATH = '', ...others } = process.env;
  const kept = Object.entries(others).filter(([name]) => !OF_TESTS.test(name));
  const paths = PATH.split(delimiter).filter((path) => !path.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: paths.join(delimiter) };
}

type Place = { cwd: string; env?: NodeJS.ProcessEnv };

/** Runs a line of a shell. @returns its stdout. @throws Error with all of its output if it fails. */
export async function runLine(line: string, { cwd, env = {} }: Place): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', line], {
    cwd,
    env: { ...ownEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  if (code !== 0) throw new Error(`${line}\n${stdout}${stderr}`);
  return stdout;
}

/** Copies the files of this clone that Git knows, or would add, without anything built. */
export async function copyClone(target: string): Promise<void> {
  const list = await runLine('git ls-files -z --cached --others --exclude-standard', { cwd: ROOT });
  for (const path of list.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await cp(join(ROOT, path), join(target, path), { force: true }).catch((error) => {
      // Deleted, but not yet committed.
      if (error.code !== 'ENOENT') throw error;
    });
  }
}
