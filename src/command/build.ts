/** `npm run command`: bundles the command into JavaScript that Node.js 20 runs, in `src/generated/command`. */
import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'rolldown';

const ROOT = join(import.meta.dirname, '../..');

export async function buildCommand(directory: string): Promise<void> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  await rm(directory, { recursive: true, force: true });
  await build({
    cwd: ROOT,
    input: { parley: join(import.meta.dirname, 'parley.ts') },
    platform: 'node',
    // The names of chunks depend on the paths of modules. A build in `.build` reaches the packages by a link.
    resolve: { symlinks: false },
    logLevel: 'warn',
    moduleTypes: { '.agent': 'text' },
    transform: { target: 'node20', define: { PARLEY_VERSION: JSON.stringify(version) } },
    output: {
      dir: directory,
      entryFileNames: '[name].mjs',
      // A command loads only its own chunk, so that the others cost nothing at its start.
      chunkFileNames: '[name]-[hash].mjs',
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    },
  });
  await chmod(join(directory, 'parley.mjs'), 0o755);
}

if (import.meta.main) await buildCommand(join(ROOT, 'src/generated/command'));
