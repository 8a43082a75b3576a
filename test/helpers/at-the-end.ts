import { onTestFinished } from 'vitest';

const endOfFile: (() => unknown)[] = [];

/**
 * Registers a cleanup for the end of the current test, or of the file if no test runs: a leftover resource would disturb
 * the next files in the same process. Cleanups run in reverse order.
 */
export function atTheEnd(close: () => unknown): void {
  try {
    onTestFinished(async () => {
      await close();
    });
  } catch {
    atTheEndOfFile(close);
  }
}

/** Registers a cleanup for the end of the file, also while a test runs. */
export function atTheEndOfFile(close: () => unknown): void {
  endOfFile.push(close);
}

/** Runs the file's cleanups. Vitest cannot register a file hook while tests run. */
export async function endFile(): Promise<void> {
  for (let close = endOfFile.pop(); close; close = endOfFile.pop()) await close();
}
