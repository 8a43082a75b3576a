import { onTestFinished } from 'vitest';

const endOfFile: (() => unknown)[] = [];

/**
 * Has what a helper opened closed at the end of the test that asks, or of the file where none does: what goes on would
 * meddle with the files that come after it in the same process. The last opened is the first to close.
 */
export function atTheEnd(close: () => unknown): void {
  try {
    onTestFinished(async () => {
      await close();
    });
  } catch {
    endOfFile.push(close);
  }
}

/** Closes what the file has opened. Vitest has no hook that could be added while the tests run. */
export async function endFile(): Promise<void> {
  for (let close = endOfFile.pop(); close; close = endOfFile.pop()) await close();
}
