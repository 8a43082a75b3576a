/**
 * Builds the generated files after `npm install` in a clone. A packed Parley has them already, and no lock file: npm
 * packs none. An installation without development packages borrows them for the build, unless it was built before.
 *
 * In a clone, it also removes the largest files of packages that nothing reads.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';

const at = (path) => new URL(path, import.meta.url);
const exists = (path) => existsSync(at(path));
const namesIn = (folder) => (exists(folder) ? readdirSync(at(folder)) : []);

/** The compilers of queries for databases that Parley does not use. */
const OTHER_COMPILERS = /^query_compiler_\w+\.(?!postgresql\.)/;

/** Removes the largest files of packages that nothing reads. */
function removeUnread() {
  const remove = (path) => rmSync(at(path), { recursive: true, force: true });
  const packages = '../node_modules';
  // The headers of Node.js are only for add-ons in C++, and no package here compiles any.
  for (const name of namesIn(`${packages}/node/node_modules`))
    remove(`${packages}/node/node_modules/${name}/include`);
  for (const folder of [`${packages}/@prisma/client/runtime`, `${packages}/prisma/build`])
    for (const name of namesIn(folder)) if (OTHER_COMPILERS.test(name)) remove(`${folder}/${name}`);
}

/** @returns whether the command succeeded. */
function run(command) {
  const { status } = spawnSync(command, { stdio: 'inherit', shell: true });
  process.exitCode = status ?? 1;
  return status === 0;
}

if (exists('../../package-lock.json')) {
  removeUnread();
  if (exists('../node_modules/rolldown')) run('npm run --silent build');
  else if (!exists('generated/database.tar.gz')) {
    if (run('npm ci --include=dev')) run('npm prune --omit=dev');
  }
}
