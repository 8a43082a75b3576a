import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyDataDirectory } from './embedded-template.ts';

/** The parent of all temporary directories of one test run, from the process id of the workers' parent. */
export const temporaryRoot = (pid: number) => join(tmpdir(), `parley-test-${pid}`);

/** Creates a directory that is deleted after the test run. */
export async function temporaryDirectory(): Promise<string> {
  const root = temporaryRoot(process.ppid);
  await mkdir(root, { recursive: true });
  return mkdtemp(join(root, 'data-'));
}

/** A data directory with an empty database, copied because creating one takes seconds. */
export async function dataDirectoryInUse(): Promise<string> {
  const directory = await temporaryDirectory();
  await copyDataDirectory(directory);
  return directory;
}
