import { watch } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readSourceFile, type SourceFile } from '../definitions/source-file.ts';

/** Editors write a file in several steps. */
const SETTLE_MS = 50;

/**
 * Yields a file, and again after each change of its content. A file that cannot be read is yielded as an error, because
 * the next save may bring it back. It watches the directory: editors replace the file.
 */
export async function* fileChanges(
  path: string,
  stdin: NodeJS.ReadableStream,
  signal: AbortSignal,
): AsyncGenerator<SourceFile | Error> {
  let previous: string | undefined;
  const read = async () => {
    try {
      const file = await readSourceFile(path, stdin);
      if (file.text === previous) return undefined;
      previous = file.text;
      return file;
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error));
      if (reason.message === previous) return undefined;
      previous = reason.message;
      return reason;
    }
  };
  // Watching begins before the first reading, so that no change is missed.
  const events = watch(dirname(path), { signal });
  const first = await read();
  if (first) yield first;
  for await (const { filename } of events) {
    if (filename !== null && filename !== basename(path)) continue;
    await delay(SETTLE_MS, undefined, { signal });
    const changed = await read();
    if (changed) yield changed;
  }
}
