import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../helpers/directories.ts';
import { freePort } from '../helpers/free-port.ts';
import { runLine } from './commands.ts';
import { type BuiltImage, buildImage, IMAGE_USER, openFolder } from './image-build.ts';

/** The installation downloads all packages. */
const BUILD_MS = 1_500_000;
/** As `docker run --stop-timeout 45`. */
const STOP_MS = 45_000;
const MAX_MB = 300;

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log('The tests of the image are skipped: only root can start it as its user.');

describe.skipIf(!isRoot)('the image, as it is built', () => {
  let image: BuiltImage;
  let server: ChildProcess | undefined;
  let output = '';
  let url: string;
  let environment: Record<string, string>;

  /** Runs a program as the user of the image, with the environment of the image. */
  const start = ([program = '', ...words]: string[]) =>
    spawn(program, words, {
      cwd: image.at(image.stage.workdir),
      env: environment,
      uid: IMAGE_USER,
      gid: IMAGE_USER,
    });
  const exitCode = async (words: string[]) => (await once(start(words), 'close'))[0];

  beforeAll(async () => {
    const folder = await temporaryDirectory();
    await openFolder(folder);
    image = await buildImage(folder);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    // The base image has this Node.js in its path.
    await mkdir(join(folder, 'bin'));
    await copyFile(process.execPath, join(folder, 'bin/node'));
    await runLine('chmod 755 bin bin/node', { cwd: folder });
    const variables = Object.fromEntries(image.stage.variables);
    environment = {
      ...variables,
      PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
      PARLEY_DATA_DIR: image.at(variables.PARLEY_DATA_DIR ?? ''),
      PORT: String(port),
    };
  }, BUILD_MS);

  afterAll(() => void server?.kill('SIGKILL'));

  test('is small, because no tool of the build is in it', async () => {
    const cwd = image.at(image.stage.workdir);
    const size = async (path: string) =>
      Number((await runLine(`du -sk ${path}`, { cwd })).split('\t')[0]);
    const [all, packages] = [await size('.'), await size('node_modules')];
    const sizes = await runLine('du -sk node_modules/* node_modules/@*/* | sort -rn | head -8', {
      cwd,
    });
    console.log(`The image takes ${all >> 10} MiB, its packages ${packages >> 10} MiB:\n${sizes}`);
    expect(all * 1024).toBeLessThan(MAX_MB * 1_000_000);
    const tools = ['vite', 'rolldown', 'typescript', 'vitest', 'react', '@biomejs/biome', 'prisma'];
    for (const tool of tools)
      expect(await runLine(`test -e node_modules/${tool} && echo ${tool} || true`, { cwd })).toBe(
        '',
      );
  });

  test('cannot be changed by the user that runs it', async () => {
    const { workdir, user } = image.stage;
    expect(user).toBe('node');
    const writable = 'find . -not -type l -perm /022 -o -user 1000 -o -group 1000';
    expect(await runLine(writable, { cwd: image.at(workdir) })).toBe('');
    expect(await exitCode(['sh', '-c', 'touch src/start/main.mjs || touch new'])).not.toBe(0);
  });

  test('starts with its own command, becomes healthy and writes the operator key', async () => {
    const child = start(image.stage.command);
    server = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        output += chunk;
      });
    await expect
      .poll(() => (child.exitCode === null ? exitCode(image.stage.healthCheck) : output), {
        interval: 1_000,
      })
      .toBe(0);
    await expect.poll(() => output).toContain('Try: ');
    expect(output).not.toContain('parley_sk_');
  });

  test('serves the console and the guide with their files', async () => {
    for (const path of ['/', '/guide']) {
      const page = await fetch(url + path);
      expect(page.status).toBe(200);
      const files = [...(await page.text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)];
      expect(files.length).toBeGreaterThan(2);
      for (const [, file] of files) expect((await fetch(`${url}${file}`)).status).toBe(200);
    }
  });

  test('answers the printed curl line', async () => {
    const line = /Try: +(curl .*)/.exec(output)?.[1] ?? '';
    const answer = JSON.parse(await runLine(line.replace('0.0.0.0', '127.0.0.1'), { cwd: '/' }));
    expect(answer).toMatchObject({ session_id: 'user-1', run_id: expect.stringMatching(/^run_/) });
    const key = await readFile(join(environment.PARLEY_DATA_DIR ?? '', 'operator-key'), 'utf8');
    expect(key).toMatch(/^parley_sk_\w{49}\n$/);
  });

  test('ends in time at SIGTERM', async () => {
    if (!server) throw new Error('The server did not start.');
    const ended = once(server, 'close', { signal: AbortSignal.timeout(STOP_MS) });
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
