import { type ChildProcess, spawn } from 'node:child_process';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { findInstallation, SERVER_ENVIRONMENT } from './installation.ts';

/** The server in a child process. */
export type ServerProcess = {
  /** Resolves when the server is ready. Rejects if it ends before. */
  ready: Promise<{ url: string; apiKey: string | undefined }>;
  /** Resolves when the process ended. @throws Refusal if it failed; it has printed the reason. */
  ended: Promise<void>;
  /** Asks the server to shut down gracefully. */
  stop(): void;
};

/**
 * Starts the server in the working directory, with the settings of the environment and of `.env`.
 *
 * @param settings replace the settings of the environment and of `.env`. The server then prints only errors.
 */
export function startServer(
  { json, signal, environment }: Context,
  settings?: Readonly<Record<string, string>>,
): ServerProcess {
  const { node, run } = findInstallation();
  const output = json ? 2 : 'inherit';
  const child = spawn(node, run('start/main.mjs'), {
    stdio: settings
      ? ['ignore', 'ignore', 'inherit', 'ipc']
      : ['inherit', output, 'inherit', 'ipc'],
    env: { ...SERVER_ENVIRONMENT, ...environment.all, ...settings },
  });
  const stop = () => void child.kill('SIGTERM');
  // In a terminal, the system sends the signal of Ctrl-C to both processes.
  const interrupt = () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  };
  signal.addEventListener('abort', interrupt, { once: true });
  process.on('SIGTERM', stop);
  process.on('SIGHUP', stop);
  const ended = endOf(child).finally(() => {
    signal.removeEventListener('abort', interrupt);
    process.off('SIGTERM', stop);
    process.off('SIGHUP', stop);
  });
  // The caller may wait only for `ready`.
  ended.catch(() => {});
  return { ready: readinessOf(child, ended), ended, stop };
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new Refusal(`The server cannot be started: ${error.message}.`, { cause: error })),
    );
    // The server has printed why it failed.
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Refusal(''))));
  });
}

function readinessOf(child: ChildProcess, ended: Promise<void>): ServerProcess['ready'] {
  const ready = new Promise<{ url: string; apiKey: string | undefined }>((resolve, reject) => {
    child.on('message', (message) => {
      if (isReady(message)) resolve({ url: message.address, apiKey: message.key });
    });
    ended.then(() => reject(new Refusal('')), reject);
  });
  ready.catch(() => {});
  return ready;
}

/** What `src/start/server.ts` sends when it is ready. */
function isReady(message: unknown): message is { address: string; key?: string } {
  return (
    typeof message === 'object' &&
    message !== null &&
    'address' in message &&
    typeof message.address === 'string'
  );
}
