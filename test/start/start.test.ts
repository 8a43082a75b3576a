import { execFile } from 'node:child_process';
import { access, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { findInstallation, SERVER_ENVIRONMENT } from '../../src/command/local/installation.ts';
import { dataDirectoryInUse, temporaryDirectory } from '../helpers/directories.ts';
import { startServer } from '../helpers/server.ts';

const run = promisify(execFile);
const START = new URL('../../src/start/main.mjs', import.meta.url).pathname;
const SERVER = new URL('../../src/start/server.ts', import.meta.url).pathname;
const ROOT = new URL('../..', import.meta.url).pathname;
const { PATH } = process.env;

describe('npm start', () => {
  test('reads `.env`, which the environment overrides', async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, '.env'), 'PORT=http\nLOG_LEVEL=loud\n');
    const [, , ...options] = packageJson.scripts.start
      .replace('src/start/main.mjs', START)
      .split(' ');
    const env = { PATH, LOG_LEVEL: 'info', PARLEY_DATA_DIR: await dataDirectoryInUse() };
    await expect(run(process.execPath, options, { cwd: folder, env })).rejects.toMatchObject({
      code: 1,
      stderr: 'Parley cannot start: PORT must be a port number\n',
    });
  });

  test('ends with npm, so that no process keeps its port and its database', async () => {
    const command: [string, ...string[]] = ['npm', 'start', '--prefix', ROOT];
    const { url, output, stop } = await startServer({ command });
    await stop('SIGTERM');
    expect(output()).toContain('Shutting down.');
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  test('reads `.env` as a supervisor runs it, too', async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, '.env'), 'PORT=http\n');
    const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const line = /^node_modules\/\.bin\/node (.*)$/m.exec(page)?.[1] ?? '';
    const options = line.replace('src/start/main.mjs', START).split(' ');
    const ended = run(process.execPath, options, { cwd: folder, env: { PATH } });
    await expect(ended).rejects.toMatchObject({
      code: 1,
      stderr: 'Parley cannot start: PORT must be a port number\n',
    });
  });

  test('takes no variables of Node.js or of the system from `.env`, and names them', async () => {
    const folder = await temporaryDirectory();
    const trace = join(folder, 'ran');
    await writeFile(join(folder, 'evil.cjs'), `require('node:fs').writeFileSync('${trace}', '')`);
    const lines = [
      `NODE_OPTIONS="--require ${join(folder, 'evil.cjs')}"`,
      'NODE_EXTRA_CA_CERTS=/evil.pem',
      'LD_PRELOAD=/evil.so',
      'HTTPS_PROXY=http://127.0.0.1:1',
      'PATH=/evil',
      'PARLEY_DATA_DIR=/dev/null/none',
    ];
    await writeFile(join(folder, '.env'), lines.join('\n'));
    const start = packageJson.scripts.start.replace('src/start/main.mjs', START);
    const watch = packageJson.scripts.watch.replace('src/start/server.ts', SERVER);
    for (const script of [start.replace('exec ', ''), watch.replace(' --watch', '')]) {
      const [, ...options] = script.split(' ');
      const ended = run(process.execPath, options, { cwd: folder, env: { PATH } });
      await expect(ended).rejects.toMatchObject({
        code: 1,
        stdout: expect.stringContaining(
          'Ignored in .env, because they are not settings of Parley: HTTPS_PROXY, LD_PRELOAD, NODE_EXTRA_CA_CERTS, NODE_OPTIONS, PATH.',
        ),
        stderr: expect.stringContaining('PARLEY_DATA_DIR: cannot use /dev/null/none'),
      });
    }
    await expect(access(trace)).rejects.toThrow('ENOENT');
  });

  test('prints no control characters of a setting', async () => {
    const folder = await temporaryDirectory();
    const hostile = '\x1b]52;c;cHduZWQ=\x07\u202e';
    await writeFile(join(folder, 'ids.json'), JSON.stringify({ [`a b${hostile}`]: '{ a }' }));
    const lines = [
      `PARLEY_DATA_DIR="/dev/null/${hostile}"`,
      `PARLEY_WRONG${hostile}=x`,
      'PARLEY_PERSISTED_DOCUMENTS=ids.json',
    ];
    const outputs: string[] = [];
    for (const text of [lines.join('\n'), `${lines[0]}\n`]) {
      await writeFile(join(folder, '.env'), text);
      const ended = run(process.execPath, [START], { cwd: folder, env: { PATH } });
      const { stdout, stderr } = await ended.catch((error) => error);
      outputs.push(stdout + stderr);
    }
    expect(outputs[0]).toContain('PARLEY_PERSISTED_DOCUMENTS a b\uFFFD]52;c');
    expect(outputs[1]).toContain('cannot use /dev/null/\uFFFD]52;c');
    for (const output of outputs) expect(output).not.toMatch(/[[\p{Cc}\p{Cf}]--\n]/v);
  });

  test('reports the command that generates missing files', async () => {
    const folder = join(await temporaryDirectory(), 'src');
    await mkdir(folder);
    await copyFile(START, join(folder, 'main.mjs'));
    await expect(run(process.execPath, [join(folder, 'main.mjs')])).rejects.toMatchObject({
      code: 1,
      stderr: 'Parley cannot start: its generated files are missing. Run: npm run build\n',
    });
  });

  test.skipIf(process.platform !== 'linux')(
    'returns freed memory, also with the command, and keeps its process and its options',
    async () => {
      const folder = await temporaryDirectory();
      const bundle = join(folder, 'generated/server');
      await mkdir(bundle, { recursive: true });
      await mkdir(join(folder, 'start'));
      const main = join(folder, 'start/main.mjs');
      await copyFile(START, main);
      await writeFile(
        join(bundle, 'server.mjs'),
        'console.log(JSON.stringify([process.pid, process.execArgv, process.env.MALLOC_TRIM_THRESHOLD_]));',
      );
      const start = async (env: NodeJS.ProcessEnv) => {
        const running = run(process.execPath, ['--max-semi-space-size=32', main], { env });
        const [pid, ...others] = JSON.parse((await running).stdout);
        expect(pid).toBe(running.child.pid);
        return others;
      };
      const threshold = SERVER_ENVIRONMENT.MALLOC_TRIM_THRESHOLD_;
      expect(await start({})).toEqual([['--max-semi-space-size=32'], threshold]);
      const own = { MALLOC_TRIM_THRESHOLD_: '1' };
      expect(await start(own)).toEqual([['--max-semi-space-size=32'], '1']);
    },
  );

  test('has only ASCII in its bundle, which Node.js keeps in one byte a character', async () => {
    const folder = new URL('../../src/generated/server/', import.meta.url);
    for (const name of await readdir(folder)) {
      if (!name.endsWith('.mjs')) continue;
      expect(await readFile(new URL(name, folder), 'latin1'), name).toMatch(/^[\0-\x7f]*$/);
    }
  });

  test('has the same V8 options in a container, for a supervisor and with the command', async () => {
    const optionsIn = (text: string) =>
      text.match(/--(?:max-semi-space-size|heap-growing-percent)=\d+/g);
    const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
    const expected = ['--max-semi-space-size=32', '--heap-growing-percent=60'];
    expect(optionsIn(packageJson.scripts.start)).toEqual(expected);
    expect(optionsIn(await read('../../Dockerfile'))).toEqual(expected);
    expect(optionsIn(await read('../../docs/operations.md'))).toEqual(expected);
    expect(optionsIn(findInstallation().run('start/main.mjs').join(' '))).toEqual(expected);
  });
});
