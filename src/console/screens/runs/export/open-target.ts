import { createDiskFile } from './disk-file.ts';
import { createDownload } from './download.ts';
import { type FileTarget, fileProblem } from './file-target.ts';

/**
 * Opens a file in the place that the user chooses, or a download where the browser cannot write to files.
 *
 * @returns `undefined` if the user chose no place.
 */
export async function openTarget(name: string, type: string): Promise<FileTarget | undefined> {
  if (!window.showSaveFilePicker) {
    return createDownload(name, type);
  }
  try {
    const handle = await window.showSaveFilePicker({ suggestedName: name });
    return createDiskFile(handle, await handle.createWritable());
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined;
    throw fileProblem(error);
  }
}

declare global {
  interface Window {
    /** Source: https://wicg.github.io/file-system-access/. Not in every browser. */
    showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
  }
}
