import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/start/env-file.ts';
import { environmentVariables } from '../../src/start/environment-variables.ts';
import { temporaryDirectory } from '../helpers/directories.ts';

let path: string;
beforeEach(async () => {
  path = join(await temporaryDirectory(), '.env');
});

const read = async (text: string | Buffer, environment = {}) => {
  await writeFile(path, text);
  return readSettings(environment, path);
};

describe('the file .env', () => {
  test('gives every setting of Parley, unless the environment has it', async () => {
    const names = Object.keys(environmentVariables.shape);
    expect(names).toContain('OPENAI_API_KEY');
    const lines = names.map((name) => `${name}=file`).join('\n');
    const { values, warning } = await read(lines, { PORT: 'environment', HOME: '/home' });
    expect(warning).toBeUndefined();
    expect(values).toEqual({
      ...Object.fromEntries(names.map((name) => [name, 'file'])),
      PORT: 'environment',
      HOME: '/home',
    });
  });

  test('may hold variables of the command, and a mistyped setting, which the start refuses', async () => {
    const text = 'PARLEY_API_KEY=x\nPARLEY_PROMTP_DAYS=1\n';
    expect(await read(text)).toEqual({
      values: { PARLEY_API_KEY: 'x', PARLEY_PROMTP_DAYS: '1' },
      warning: undefined,
    });
  });

  test('gives nothing else, and the warning names it without its value', async () => {
    const before = { ...process.env };
    const { values, warning } = await read('NODE_OPTIONS=canary\nSHOP_TOKEN="canary"\nPORT=1\n');
    expect(values).toEqual({ PORT: '1' });
    expect(process.env).toEqual(before);
    expect(warning).toMatch(/^Ignored in \.env, .+: NODE_OPTIONS, SHOP_TOKEN\. /);
    expect(warning).not.toContain('canary');
  });

  test('has a bounded warning of plain names', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `NAME_${index}=x`);
    const { warning = '' } = await read(
      ['\x1b[2J\u202e=x', `${'N'.repeat(9_000)}=x`, ...names].join('\n'),
    );
    expect(warning).toMatch(/^[\x20-\x7e]{1,600}$/);
    expect(warning).toMatch(/NAME_26, 32 more\./);
  });

  test('need not exist, and may be a directory or a device', async () => {
    const nothing = { values: {}, warning: undefined };
    expect(await readSettings({}, path)).toEqual(nothing);
    await mkdir(path);
    expect(await readSettings({}, path)).toEqual(nothing);
    expect(await readSettings({}, '/dev/zero')).toEqual(nothing);
  });

  test('is refused beyond 64 KiB, and if it cannot be read', async () => {
    await expect(read(`#${' '.repeat(65_536)}`)).rejects.toThrow('has more than 65536 bytes');
    expect((await read(`PORT=1\n#${' '.repeat(65_528)}`)).values).toEqual({ PORT: '1' });
    await chmod(path, 0o000);
    // The superuser reads every file.
    if (process.getuid?.() !== 0)
      await expect(readSettings({}, path)).rejects.toThrow('cannot be read: EACCES');
    await expect(readSettings({}, join(path, 'below'))).rejects.toThrow('cannot be read: ENOTDIR');
  });
});
