import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Context } from '../context.ts';
import { findInstallation } from './installation.ts';

const DEFAULT_LIMIT_MS = 60_000;

/** What a program of the server printed before it ended. */
export type ProgramOutput = {
  code: number | null;
  /** The JSON on its standard output; `undefined` if that is not JSON. */
  result: unknown;
  /** Its standard error. */
  problem: string;
};

/**
 * Runs a program of the server in this directory, with the settings of the server.
 *
 * @param name the program, such as `doctor`.
 * @param limitMs after which it is ended.
 * @throws Refusal if the server is not installed.
 */
export async function runServerProgram(
  name: string,
  words: readonly string[],
  { signal, environment }: Context,
  limitMs = DEFAULT_LIMIT_MS,
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
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, result: parse(stdout), problem: stderr.trim() };
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}
