import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** A server that runs as a process of its own. */
export type Child = {
  /** Where it listens. */
  url: string;
  /** What it printed last, for when something is wrong. */
  output(): string;
  /** The CPU time that it has taken so far, user and system, in milliseconds; none without `/proc`. */
  cpuMs(): Promise<number | undefined>;
  /** The process's id. */
  pid: number;
  /** How it ended: its exit code, or the signal; null while it runs. */
  ending(): number | NodeJS.Signals | null;
  /** Settles when it has ended. */
  closed: Promise<unknown>;
};

export type ChildOptions = {
  /** Relative to this file. */
  file: string;
  args?: string[];
  /** All of its environment, beside what a program needs to be found. */
  env?: Record<string, string>;
  /** Aborted: the process is stopped, also while it starts. */
  signal: AbortSignal;
  /** Takes over the duty to stop the process. */
  stack: AsyncDisposableStack;
};

/** How many of the last characters of its output are kept. */
const OUTPUT_LIMIT = 100_000;
const STOP_LIMIT_MS = 10_000;
/** What the kernel counts CPU time in, as it tells it to programs on every Linux. */
const MS_PER_TICK = 10;

/** Starts a server and waits until it says `listening on <address>`. */
export async function startServer(options: ChildOptions): Promise<Child> {
  const { child, output } = launch(options);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const [, address] = /listening on (http:\S+)\n/.exec(output()) ?? [];
      if (address) resolve(address);
    });
    child.once('close', () => reject(ended(options, output())));
    child.once('error', (error) => child.pid ?? reject(error));
  });
  return {
    url,
    output,
    cpuMs: () => cpuMs(child.pid),
    pid: child.pid ?? 0,
    ending: () => child.exitCode ?? child.signalCode,
    closed: once(child, 'close'),
  };
}

/** Runs a program to its end. @throws an error with what it printed when it does not end well. */
export async function runToEnd(options: ChildOptions): Promise<void> {
  const { child, output } = launch(options);
  await new Promise<void>((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve() : reject(ended(options, output()))));
    child.once('error', (error) => child.pid ?? reject(error));
  });
}

/** Starts a program. The end of the stack stops it. */
export function launch({ file, args = [], env, signal, stack }: ChildOptions) {
  signal.throwIfAborted();
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  // Without a listener, the signal's abort would end this process too.
  child.on('error', () => {});
  stack.defer(() => stop(child));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-OUTPUT_LIMIT);
    });
  }
  return { child, output: () => text };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await closed;
  clearTimeout(timer);
}

function ended({ file }: ChildOptions, output: string): Error {
  return new Error(`${file} ended before its time:\n${output}`);
}

async function cpuMs(pid: number | undefined): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // After the name in brackets, which may hold anything: fields 3 and on; `utime` is 14, `stime` 15.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}
