import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { dataDirectoryInUse, temporaryDirectory } from './helpers/directories.ts';

const run = promisify(execFile);
const START = new URL('../src/start.mjs', import.meta.url).pathname;
const { PATH } = process.env;

describe('npm start', () => {
  test('reads `.env`, which the environment overrides', async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, '.env'), 'PORT=http\nLOG_LEVEL=loud\n');
    const [, ...options] = packageJson.scripts.start.replace('src/start.mjs', START).split(' ');
    const env = { PATH, LOG_LEVEL: 'info', PARLEY_DATA_DIR: await dataDirectoryInUse() };
    await expect(run(process.execPath, options, { cwd: folder, env })).rejects.toMatchObject({
      code: 1,
      stderr: 'Parley cannot start: PORT must be a port number\n',
    });
  });

  test('reports the command that generates missing files', async () => {
    const folder = join(await temporaryDirectory(), 'src');
    await mkdir(folder);
    await copyFile(START, join(folder, 'start.mjs'));
    await expect(run(process.execPath, [join(folder, 'start.mjs')])).rejects.toMatchObject({
      code: 1,
      stderr: 'Parley cannot start: its generated files are missing. Run: npm run build\n',
    });
  });
});
