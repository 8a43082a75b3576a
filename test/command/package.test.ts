import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { dataDirectoryInUse, temporaryDirectory } from '../helpers/directories.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const run = promisify(execFile);

let folder: string;
let command: string;

/** Unpacks the tarball as `npm install` does, beside the packages of this clone, because installing them takes minutes. */
beforeAll(async () => {
  folder = await temporaryDirectory();
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, 'parley'), { recursive: true });
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== 'parley' && name !== '.cache')
      await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  await run('npm', pack, { cwd: ROOT });
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  const words = ['-xzf', join(folder, tarball), '-C', join(modules, 'parley')];
  await run('tar', [...words, '--strip-components=1']);
  command = join(modules, 'parley/src/generated/command/parley.mjs');
});

/** The oldest Node.js in PATH that the command supports. */
function oldestNode(): string {
  const others = (process.env.PATH ?? '').split(delimiter).map((path) => join(path, 'node'));
  const found = others.filter((node) => {
    try {
      return execFileSync(node, ['--version'], { encoding: 'utf8' }).startsWith('v20.');
    } catch {
      return false;
    }
  });
  return found[0] ?? process.execPath;
}

test('a clone without the development packages is not built, and says how to build it', async () => {
  const clone = await temporaryDirectory();
  await cp(join(ROOT, 'src/build'), join(clone, 'src/build'), { recursive: true });
  const built = run(process.execPath, [join(clone, 'src/build/build.ts')]);
  await expect(built).rejects.toMatchObject({
    code: 1,
    stderr:
      'Parley has to be built, which needs the development packages. Run: npm ci --include=dev && npm prune --omit=dev --omit=optional\n',
  });
  expect(await readdir(clone)).toEqual(['src']);
});

describe('the packed tarball', () => {
  test('needs no build after the installation', async () => {
    const root = join(folder, 'node_modules/parley');
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const ofInstallations = ['preinstall', 'install', 'postinstall'];
    expect(Object.keys(scripts).filter((name) => ofInstallations.includes(name))).toEqual([]);
  });

  test('has a command that checks, starts the server and chats with it', async () => {
    const node = oldestNode();
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      PORT: '0',
      PARLEY_DATA_DIR: await dataDirectoryInUse(),
    };
    await writeFile(join(folder, 'a.agent'), agent());
    const options = { cwd: folder, env };
    const { stdout } = await run(node, [command, 'check', 'a.agent'], options);
    expect(stdout).toBe('a.agent is valid.\n');

    const server = spawn(node, [command, 'start', '--json'], options);
    atTheEnd(async () => {
      server.kill('SIGTERM');
      await once(server, 'close');
    });
    let [lines, log] = ['', ''];
    server.stdout.on('data', (chunk) => {
      lines += chunk;
    });
    server.stderr.on('data', (chunk) => {
      log += chunk;
    });
    await expect.poll(() => lines + log).toMatch(/"listening"|Error/);
    const { url } = JSON.parse(lines);
    const key = await readFile(join(env.PARLEY_DATA_DIR, 'operator-key'), 'utf8');
    const reply = await run(node, [command, 'chat', 'demo', '-m', 'Packed?'], {
      ...options,
      env: { ...env, PARLEY_URL: url, PARLEY_API_KEY: key.trim() },
    });
    expect(reply.stdout).toContain('You said: "Packed?".');
  });
});
