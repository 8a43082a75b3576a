import { type FileTarget, fileProblem, partialName } from './file-target.ts';

/** The texts go to the disk as they arrive. The browser moves them to the file when it is closed. */
export function createDiskFile(
  handle: FileSystemFileHandle,
  writable: FileSystemWritableFileStream,
): FileTarget {
  return {
    write: (text) => writable.write(text).catch((error) => Promise.reject(fileProblem(error))),
    async close() {
      await writable.close().catch((error) => Promise.reject(fileProblem(error)));
      return handle.name;
    },
    async keepPartial() {
      await writable.close().catch((error) => Promise.reject(fileProblem(error)));
      const renamed = partialName(handle.name);
      try {
        if (!handle.move) return handle.name;
        await handle.move(renamed);
        return renamed;
      } catch {
        return handle.name;
      }
    },
    async discard() {
      await writable.abort();
      await handle.remove?.().catch(() => {});
    },
  };
}

declare global {
  interface FileSystemFileHandle {
    /** Renames the file. Not in every browser. */
    move?(name: string): Promise<void>;
    /** Deletes the file. Not in every browser. */
    remove?(): Promise<void>;
  }
}
