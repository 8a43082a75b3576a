import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** A server in a separate process. */
export type Child = {
  /** Its base URL. */
  url: string;
  /** The last part of its output, for error messages. */
  output(): string;
  /** The CPU time since its start, user and system, in milliseconds; undefined without `/proc`. */
  cpuMs(): Promise<number | undefined>;
  /** The process's id. */
  pid: number;
  /** Its exit code or signal; null while it runs. */
  ending(): number | NodeJS.Signals | null;
  /** Settles when the process has exited. */
  closed: Promise<unknown>;
};

export type ChildOptions = {
  /** Relative to this file. */
  file: string;
  args?: string[];
  /** The environment, besides `PATH` and `HOME`. */
  env?: Record<string, string>;
  /** Stops the process when it is aborted, even during its start. */
  signal: AbortSignal;
  /** Stops the process when it is disposed of. */
  stack: AsyncDisposableStack;
};

/** The number of last characters of the output that are kept. */
const OUTPUT_LIMIT = 100_000;
const STOP_LIMIT_MS = 10_000;
/** The length of the kernel's clock tick, which is the same on every Linux. */
const MS_PER_TICK = 10;

/** Starts a server and waits until it prints `listening on <url>`. */
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

/** Runs a program to its end. @throws an error with its output if it fails. */
export async function runToEnd(options: ChildOptions): Promise<void> {
  const { child, output } = launch(options);
  await new Promise<void>((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve() : reject(ended(options, output()))));
    child.once('error', (error) => child.pid ?? reject(error));
  });
}

/** Starts a program, which is stopped when the stack is disposed of. */
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
  return new Error(`${file} exited too early:\n${output}`);
}

async function cpuMs(pid: number | undefined): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The fields after the name in brackets, which may contain anything, start at 3; `utime` is 14, `stime` 15.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}
