import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Context } from '../context.ts';
import { findInstallation } from './installation.ts';

const DEFAULT_LIMIT_MS = 60_000;

/** What a program of the server printed before it ended. */
export type ProgramOutput = {
  code: number | null;
  /** The JSON on its standard output, without progress; `undefined` if that is not JSON. */
  result: unknown;
  /** Its standard error. */
  problem: string;
};

/**
 * Runs a program of the server in this directory, with the settings of the server.
 *
 * @param name the program, such as `doctor`.
 * @param limitMs after which it is ended.
 * @param onProgress receives `progress` of each line `{"progress": …}` as the program prints it.
 * @throws Refusal if the server is not installed.
 */
export async function runServerProgram(
  name: string,
  words: readonly string[],
  { signal, environment }: Context,
  limitMs = DEFAULT_LIMIT_MS,
  onProgress: (progress: unknown) => void = () => {},
): Promise<ProgramOutput> {
  const { node, run } = findInstallation();
  const child = spawn(node, [...run(`generated/server/${name}.mjs`), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
    env: { ...environment.all },
  });
  const [[code], stdout, stderr] = await Promise.all([
    // Rejects if the program cannot be started, or is aborted.
    once(child, 'close'),
    readOutput(child.stdout, onProgress),
    text(child.stderr),
  ]);
  return { code, result: parse(stdout), problem: stderr.trim() };
}

/** @returns the text without the lines of progress. */
async function readOutput(
  output: Readable,
  onProgress: (progress: unknown) => void,
): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: output })) {
    const value = parse(line);
    if (typeof value === 'object' && value !== null && 'progress' in value)
      onProgress(value.progress);
    else lines.push(line);
  }
  return lines.join('\n');
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}
