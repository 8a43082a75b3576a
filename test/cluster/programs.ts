import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

/** What everything that an event starts depends on. */
export type Scope = {
  /** Ends waits and processes. */
  signal: AbortSignal;
  /** Ends the processes and deletes the folders. */
  stack: AsyncDisposableStack;
};

/** A running program, such as PostgreSQL. */
export type Program = {
  /** Sends a signal and waits for the exit. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal, such as one to pause. */
  send(signal: NodeJS.Signals): void;
};

const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 20_000;
const POLL_MS = 50;
const OUTPUT_LIMIT = 20_000;

/** PostgreSQL and PgBouncer refuse to run as root, so root runs all programs as the user `postgres`. */
const user: { uid?: number; gid?: number } =
  process.getuid?.() === 0 ? await idsOf('postgres') : {};

async function idsOf(name: string): Promise<{ uid: number; gid: number }> {
  const id = async (flag: string) => Number((await promisify(execFile)('id', [flag, name])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/** Creates a folder that the programs can write to. */
export async function folder({ stack }: Scope): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'parley-cluster-'));
  stack.defer(() => rm(path, { recursive: true, force: true, maxRetries: 5 }));
  if (user.uid !== undefined && user.gid !== undefined) await chown(path, user.uid, user.gid);
  return path;
}

/** Runs a program to its end. @throws Error with its output if it fails. */
export async function run(file: string, args: string[], { signal }: Scope): Promise<void> {
  await promisify(execFile)(file, args, { ...user, cwd: '/', signal });
}

/**
 * Starts a program, and waits until it is ready. The stack kills it.
 *
 * @param isReady tests it; false and errors are repeated for up to a minute.
 */
export async function startProgram(
  file: string,
  args: string[],
  { signal, stack }: Scope,
  isReady: () => Promise<boolean>,
): Promise<Program> {
  signal.throwIfAborted();
  const child = spawn(file, args, { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_LIMIT);
    });
  }
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error(`${file} ended:\n${output}`)));
  });
  failed.catch(() => {});
  const stop = (name: NodeJS.Signals) => end(child, name);
  stack.defer(() => stop('SIGINT'));
  await Promise.race([failed, until(isReady, `${file} to start`, { signal })]);
  return { stop: (name = 'SIGINT') => stop(name), send: (name) => void child.kill(name) };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill(signal);
  // A paused process receives no other signal.
  child.kill('SIGCONT');
  const timer = globalThis.setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await closed;
  clearTimeout(timer);
}

/**
 * Waits until a condition is true. An error counts as false.
 *
 * @param what a phrase that completes "waited for".
 * @throws Error after the limit.
 */
export async function until(
  condition: () => Promise<boolean>,
  what: string,
  { signal, limitMs = READY_LIMIT_MS }: { signal: AbortSignal; limitMs?: number },
): Promise<void> {
  const startedAt = performance.now();
  let last: unknown;
  for (;;) {
    const isTrue = await condition().catch((error: unknown) => {
      last = error;
      return false;
    });
    if (isTrue) return;
    if (performance.now() - startedAt > limitMs)
      throw new Error(`waited ${limitMs / 1_000} s for ${what}`, { cause: last });
    await setTimeout(POLL_MS, undefined, { signal });
  }
}

/** Whether something listens on a port of loopback. */
export async function listensOn(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}
