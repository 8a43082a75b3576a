import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataDirectoryInUse, temporaryDirectory } from './directories.ts';

/** `npm start` in a separate process. */
export type ServerProcess = {
  url: string;
  /** The output so far. */
  output(): string;
  /** The operator key, which a first start writes into the data directory. */
  operatorKey(): string;
  /** Sends a signal and waits for the exit. @returns the exit code, or the signal that terminated the process. */
  stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
};

export type StartOptions = {
  env?: Record<string, string>;
  dataDirectory?: string;
  /** The command that starts the server. */
  command?: [program: string, ...options: string[]];
};

/** It runs the bundle of the last build, which loads in half the time of its modules. */
const ENTRY = new URL('../../src/start/main.mjs', import.meta.url).pathname;

/** Starts the server on a free port and waits until it listens. */
export async function startServer(options: StartOptions = {}): Promise<ServerProcess> {
  const { child, output, directory } = await launch(options);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const found = /listening on (http:\S+)/.exec(output());
      if (found?.[1] && output().includes('Try:')) resolve(found[1]);
    });
    child.once('exit', () => reject(new Error(`The server ended:\n${output()}`)));
  });
  return {
    url,
    output,
    operatorKey: () => readFileSync(join(directory, 'operator-key'), 'utf8').trim(),
    async stop(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await once(child, 'close');
      }
      return child.exitCode ?? child.signalCode;
    },
  };
}

/** Starts a server that is expected to fail, and waits for its exit. */
export async function startAndFail(
  options: StartOptions,
): Promise<{ code: number; output: string }> {
  const { child, output } = await launch(options);
  await once(child, 'close');
  return { code: child.exitCode ?? -1, output: output() };
}

/** PostgreSQL needs only a place for the secret key. */
const emptyInstallation = (env: Record<string, string> = {}) =>
  env.DATABASE_URL ? temporaryDirectory() : dataDirectoryInUse();

async function launch({
  env,
  dataDirectory,
  command: [program, ...words] = [process.execPath, ENTRY],
}: StartOptions): Promise<{
  child: ChildProcess;
  output(): string;
  directory: string;
}> {
  const directory = dataDirectory ?? (await emptyInstallation(env));
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(program, words, {
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      PORT: '0',
      PARLEY_DATA_DIR: directory,
      ...env,
    },
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return { child, output: () => text, directory };
}
