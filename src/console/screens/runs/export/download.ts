import { FileProblem, type FileTarget, partialName } from './file-target.ts';

/** UTF-16 code units that wait in memory. The browser may move the blobs that they become to its disk. */
const WAITING = 4 * 1024 * 1024;
/** Bytes of a download. Browsers refuse larger blobs by their disk and memory. */
const MAX_BYTES = 512 * 1024 * 1024;
/** Time in which the browser begins to save, in milliseconds. */
const SAVED_MS = 60_000;

/** Collects a file and then downloads it. */
export function createDownload(name: string, type: string): FileTarget {
  let waiting: string[] = [];
  let length = 0;
  let blobs: Blob[] = [];
  let bytes = 0;
  const flush = () => {
    const blob = new Blob(waiting);
    blobs.push(blob);
    bytes += blob.size;
    waiting = [];
    length = 0;
  };
  const save = (as: string) => {
    flush();
    const url = URL.createObjectURL(new Blob(blobs, { type }));
    blobs = [];
    const link = document.createElement('a');
    link.href = url;
    link.download = as;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), SAVED_MS);
    return as;
  };
  return {
    async write(text) {
      waiting.push(text);
      length += text.length;
      if (length >= WAITING) flush();
      if (bytes > MAX_BYTES)
        throw new FileProblem(
          'The download has reached 512 MB, the most that this browser can hold. Narrow the filters, or export in a browser that writes to files, such as Chrome or Edge.',
        );
    },
    close: async () => save(name),
    keepPartial: async () => save(partialName(name)),
    async discard() {
      waiting = [];
      blobs = [];
    },
  };
}
