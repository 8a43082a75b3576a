/**
 * Builds the generated files after `npm install` in a clone. A packed Parley has them already, and no lock file: npm
 * packs none. An installation without development packages borrows them for the build, unless it was built before.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const exists = (path) => existsSync(new URL(path, import.meta.url));

/** @returns whether the command succeeded. */
function run(command) {
  const { status } = spawnSync(command, { stdio: 'inherit', shell: true });
  process.exitCode = status ?? 1;
  return status === 0;
}

if (exists('../package-lock.json')) {
  if (exists('../node_modules/rolldown')) run('npm run --silent build');
  else if (!exists('generated/database.tar.gz')) {
    if (run('npm ci --include=dev')) run('npm prune --omit=dev');
  }
}
