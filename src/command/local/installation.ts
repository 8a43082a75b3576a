import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Refusal } from '../errors.ts';

/** The oldest Node.js that runs the server. */
const SERVER_MAJOR = 24;
/**
 * With 32 MB for young objects, most objects of a run are gone at the next collection. The heap of old objects is collected
 * when it has grown by 60 %, which bounds the memory under load. Figures: docs/performance.md.
 */
const V8_OPTIONS = ['--max-semi-space-size=32', '--heap-growing-percent=60'];

/** How much freed memory glibc keeps, which `start/main.mjs` explains. */
export const SERVER_ENVIRONMENT = { MALLOC_TRIM_THRESHOLD_: '131072' };

/** The files of Parley around the command, and the Node.js that runs the server. */
export type Installation = {
  root: string;
  node: string;
  /** The words of a Node.js that runs a program of `src`. The program itself reads `.env`. */
  run(program: string): string[];
};

/** @throws Refusal with the command that installs the missing part. */
export function findInstallation(): Installation {
  const root = findRoot(import.meta.dirname);
  if (root === undefined || !existsSync(join(root, 'src/start/main.mjs')))
    throw new Refusal(
      'The server is not installed beside the command. Install the package parley.',
    );
  return {
    root,
    node: findNode(root),
    run: (program) => [...V8_OPTIONS, join(root, 'src', program)],
  };
}

function findRoot(directory: string): string | undefined {
  const file = join(directory, 'package.json');
  if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'parley')
    return directory;
  const parent = dirname(directory);
  return parent === directory ? undefined : findRoot(parent);
}

function findNode(root: string): string {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= SERVER_MAJOR) return process.execPath;
  const found = installedNode(root);
  if (found !== undefined) return found;
  throw new Refusal(
    `The server needs Node.js ${SERVER_MAJOR}, and this is Node.js ${node}. Run npm install in ${root}, which installs it, or use a newer Node.js.`,
  );
}

/** The Node.js of the package `node`, which Parley depends on. */
function installedNode(root: string): string | undefined {
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve('node/package.json');
    const program = join(
      dirname(manifest),
      'bin',
      process.platform === 'win32' ? 'node.exe' : 'node',
    );
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}
