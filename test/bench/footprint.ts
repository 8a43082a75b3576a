import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { percentile } from './load.ts';
import type { Server } from './targets.ts';

/** The resources of a server besides CPU. */
export type Footprint = {
  target: string;
  /** The median time from its launch until it listens, in milliseconds. */
  startMs: number;
  /** Its memory before and after the load, in bytes. */
  idle: number;
  after: number;
  /** The bytes of its files and packages on the disk; undefined for a reference. */
  installed: number | undefined;
};

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Starts all servers several times in turns. @returns the median of each. */
export async function measureStarts(servers: readonly Server[], rounds: number): Promise<number[]> {
  const times = servers.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, server] of servers.entries()) {
      await using stack = new AsyncDisposableStack();
      times[index]?.push((await server.start(stack)).startMs);
    }
  return times.map((all) => percentile(all, 0.5));
}

/** The bytes of Parley's own files and of the packages that it needs in production. A file with two links counts once. */
export async function installedBytes(signal: AbortSignal): Promise<number> {
  const words = ['ls', '--all', '--omit=dev', '--omit=optional', '--parseable'];
  const { stdout } = await promisify(execFile)('npm', words, { cwd: ROOT, signal });
  const packages = stdout.split('\n').filter((path) => path.includes('node_modules'));
  const nested = (path: string) => packages.some((other) => path.startsWith(`${other}/`));
  const own = ['src', 'prisma'].map((folder) => join(ROOT, folder));
  const sizes = new Map<number, number>();
  for (const path of [...own, ...packages.filter((path) => !nested(path))])
    await measureFiles(path, sizes, signal);
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Adds the size of each file of a folder by the number of its inode. */
async function measureFiles(
  folder: string,
  sizes: Map<number, number>,
  signal: AbortSignal,
): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    signal.throwIfAborted();
    if (!entry.isFile()) continue;
    const { ino, size } = await stat(join(entry.parentPath, entry.name));
    sizes.set(ino, size);
  }
}
