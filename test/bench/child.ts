import { type ChildProcess, spawn } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The figures of a process. Times are in milliseconds since its start. */
export type Figures = {
  /** User and system time of all threads. */
  cpuMs: number;
  /** The main thread's pauses for garbage collection. */
  gcMs: number;
  /** The resident set, in bytes. */
  memory: number;
  /** The 99th percentile of the event loop's delay since the last message, in milliseconds; NaN if `BENCH_LAG` is `off`. */
  lagMs: number;
};

/** A server in a separate process. */
export type Child = {
  /** Its base URL. */
  url: string;
  /** The last part of its output, for error messages. */
  output(): string;
  /** Its CPU time, memory and pauses up to now. @throws an error if it does not answer. */
  figures(): Promise<Figures>;
  /** The time from its launch until it listened, in milliseconds. */
  startMs: number;
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
  nodeArgs?: string[];
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
const FIGURES_LIMIT_MS = 30_000;
const PROBE = new URL('probe.mjs', import.meta.url).href;

/** Starts a server and waits until it prints `listening on <url>`. */
export async function startServer(options: ChildOptions): Promise<Child> {
  const startedAt = performance.now();
  const { child, output } = launch({
    ...options,
    nodeArgs: [...(options.nodeArgs ?? []), '--import', PROBE],
  });
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
    figures: () => figuresOf(child),
    startMs: performance.now() - startedAt,
    pid: child.pid ?? 0,
    ending: () => child.exitCode ?? child.signalCode,
    // `once` would reject when the signal aborts.
    closed: new Promise((resolve) => child.once('close', resolve)),
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
export function launch({ file, args = [], nodeArgs = [], env, signal, stack }: ChildOptions) {
  signal.throwIfAborted();
  const { PATH = '', HOME = '' } = process.env;
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [...nodeArgs, path, ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    signal,
  });
  // Without a listener, the signal's abort would end this process too.
  child.on('error', () => {});
  stack.defer(() => stop(child));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
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

async function figuresOf(child: ChildProcess): Promise<Figures> {
  const signal = AbortSignal.timeout(FIGURES_LIMIT_MS);
  const messages = on(child, 'message', { signal, close: ['close'] });
  child.send('figures');
  for await (const [message] of messages) if ('cpuMs' in message) return message;
  throw new Error('The server exited before it answered with its figures.');
}
