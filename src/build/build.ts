/**
 * `npm run build`: writes all generated files. It does nothing if neither they nor their sources have changed since the last build.
 * npm runs it as `prepare` after it has installed the packages of a clone, and before it packs Parley.
 *
 * The build happens in a copy of the sources below `.build`. Its results replace the earlier ones by a rename when they
 * are complete, so that a stopped build leaves the earlier ones as they were.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** What the build reads. The Dockerfile copies the same. */
const INPUTS = [
  'CHANGELOG.md',
  'README.md',
  'docs',
  'package-lock.json',
  'package.json',
  'prisma',
  'schema.graphql',
  'src',
  'tsconfig.json',
  'vite.config.ts',
];
/** What the build writes. */
const OUTPUTS = ['src/generated', 'src/client/dist'];
/**
 * The targets of `package.json`. Each step runs its two lists at the same time, and a list runs its targets one after the
 * other. More at the same time would exceed the memory of small machines.
 */
const STEPS = [
  [['documents'], ['generate']],
  [['console', 'client', 'command', 'server'], ['database']],
];
/** The file with the digests of the last complete build's sources and results, in the first of `OUTPUTS`. */
const STAMP = 'src/generated/build.json';
/** A development package that the build needs. */
const BUNDLER = 'node_modules/rolldown';

type Stamp = { inputs: string; outputs: string };

/** The paths of all files below some paths of a folder, sorted. */
function filesIn(folder: string, paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    const stats = statSync(join(folder, path), { throwIfNoEntry: false });
    if (!stats?.isDirectory()) return stats ? [path] : [];
    const entries = globSync('**/*', { cwd: join(folder, path), withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  });
  return found.sort();
}

const isOutput = (path: string) => OUTPUTS.some((output) => `${path}/`.startsWith(`${output}/`));

/** Identifies the sources by their content. */
function inputsDigest(): string {
  const digest = createHash('sha256');
  for (const path of filesIn(ROOT, INPUTS)) {
    if (isOutput(path) || path.endsWith('.tsbuildinfo')) continue;
    digest
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update('\0');
  }
  return digest.digest('hex');
}

/** Identifies results by their sizes and times, so that one that a single target rebuilt is noticed. */
function outputsDigest(folder: string): string {
  const digest = createHash('sha256');
  for (const path of filesIn(folder, OUTPUTS)) {
    if (path === STAMP) continue;
    const { size, mtimeMs } = statSync(join(folder, path));
    digest.update(`${path}\0${size}\0${mtimeMs}\0`);
  }
  return digest.digest('hex');
}

function readStamp(): Partial<Stamp> {
  try {
    return JSON.parse(readFileSync(join(ROOT, STAMP), 'utf8'));
  } catch {
    return {};
  }
}

/** Makes the folder of this build, and removes the folders of builds that were stopped. */
function makeStage(): string {
  const parent = join(ROOT, '.build');
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent))
    if (!isRunning(Number(name))) rmSync(join(parent, name), { recursive: true, force: true });
  const stage = join(parent, String(process.pid));
  rmSync(stage, { recursive: true, force: true });
  for (const path of INPUTS)
    cpSync(join(ROOT, path), join(stage, path), {
      recursive: true,
      filter: (source) => !isOutput(relative(ROOT, source)),
    });
  // The command's bundle is then the same as one that is built in the root.
  symlinkSync(join(ROOT, 'node_modules'), join(stage, 'node_modules'));
  return stage;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** @returns whether all targets succeeded. They print why one failed. */
async function buildIn(stage: string): Promise<boolean> {
  const runAll = async (targets: string[]) => {
    for (const target of targets) if (!(await run(target, stage))) return false;
    return true;
  };
  for (const lists of STEPS) {
    const results = await Promise.all(lists.map(runAll));
    if (results.includes(false)) return false;
  }
  return true;
}

/** Runs a script of `package.json`, in half a second less than npm takes. */
async function run(script: string, cwd: string): Promise<boolean> {
  const child = spawn(process.execPath, ['--run', script], { cwd, stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return code === 0;
}

/** Moves the results of a complete build to their places, and the earlier ones into its folder. */
function install(stage: string): void {
  for (const output of OUTPUTS) {
    const [place, earlier] = [join(ROOT, output), join(stage, 'earlier', output)];
    mkdirSync(dirname(earlier), { recursive: true });
    if (statSync(place, { throwIfNoEntry: false })) renameSync(place, earlier);
    renameSync(join(stage, output), place);
  }
}

const inputs = inputsDigest();
const last = readStamp();
if (last.inputs !== inputs || last.outputs !== outputsDigest(ROOT)) {
  if (!existsSync(join(ROOT, BUNDLER))) {
    console.error(
      'Parley has to be built, which needs the development packages. Run: npm ci --include=dev && npm prune --omit=dev --omit=optional',
    );
    process.exit(1);
  }
  const stage = makeStage();
  try {
    if (await buildIn(stage)) {
      const stamp: Stamp = { inputs, outputs: outputsDigest(stage) };
      writeFileSync(join(stage, STAMP), JSON.stringify(stamp));
      install(stage);
    } else process.exitCode = 1;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}
