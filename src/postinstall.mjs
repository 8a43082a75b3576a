/**
 * Builds the generated files after `npm install` in a clone. A packed Parley has them already, and no lock file: npm
 * packs none.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

if (existsSync(new URL('../package-lock.json', import.meta.url))) {
  const { status } = spawnSync('npm run --silent build', { stdio: 'inherit', shell: true });
  process.exitCode = status ?? 1;
}
