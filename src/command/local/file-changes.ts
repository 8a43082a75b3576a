import { on } from 'node:events';
import { watch } from 'node:fs';
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
  // Both begin before the first reading, so that no change is missed. The watcher of `fs/promises` begins with its first
  // `next`.
  const events = on(watch(dirname(path), { signal }), 'change', { signal });
  const first = await read();
  if (first) yield first;
  for await (const [, filename] of events) {
    if (filename !== null && filename !== basename(path)) continue;
    await delay(SETTLE_MS, undefined, { signal });
    const changed = await read();
    if (changed) yield changed;
  }
}
