import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { readConfig } from '../../src/start/config.ts';
import { readSettings } from '../../src/start/env-file.ts';
import { SECRET_SETTINGS } from '../../src/start/environment-variables.ts';
import { fileSetting } from '../../src/start/secret-files.ts';
import { temporaryDirectory } from '../helpers/directories.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
});

const secretKey = Buffer.alloc(32, 1);
const VALUES: Record<(typeof SECRET_SETTINGS)[number], string> = {
  DATABASE_URL: 'postgresql://u:canary@db/parley',
  DATABASE_DIRECT_URL: 'postgresql://u:canary@direct/parley',
  REDIS_URL: 'redis://:canary@cache:6379',
  REDIS_SENTINEL_PASSWORD: 'canary',
  PARLEY_SECRET_KEY: secretKey.toString('base64'),
  PARLEY_BOOTSTRAP_KEY: makeApiKey(),
  OPENAI_API_KEY: 'canary',
  PARLEY_METRICS_TOKEN: 'canary-canary-canary',
};

/** Writes the secrets of `VALUES` into files. @returns the variables that name them. */
async function filesOf(suffix = '\n'): Promise<Record<string, string>> {
  const entries = Object.entries(VALUES).map(async ([name, value]) => {
    await writeFile(join(folder, name), `${value}${suffix}`);
    return [fileSetting(name), join(folder, name)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const problemOf = (environment: Record<string, string>) => {
  try {
    return readConfig(environment);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

describe('a setting with a secret', () => {
  test.each(['', '\n', '\r\n', '  \n'])('comes from a file that ends with %j', async (suffix) => {
    expect(readConfig(await filesOf(suffix))).toEqual(readConfig(VALUES));
  });

  test('comes from a file behind a link, as Kubernetes mounts secrets', async () => {
    await writeFile(join(folder, 'data'), 'canary');
    await symlink(join(folder, 'data'), join(folder, 'link'));
    const { model } = readConfig({ OPENAI_API_KEY_FILE: join(folder, 'link') });
    expect(model?.apiKey).toBe('canary');
  });

  test.each(SECRET_SETTINGS)('is refused if %s is set twice', async (name) => {
    const path = join(folder, 'file');
    await writeFile(path, VALUES[name]);
    const given = { [name]: VALUES[name], [fileSetting(name)]: path };
    expect(problemOf({ ...VALUES, ...given })).toBe(
      `${name} and ${name}_FILE are both set. Set one of them.`,
    );
  });

  test('is not set twice if one of both is empty', async () => {
    const files = await filesOf();
    const empty = Object.fromEntries(SECRET_SETTINGS.map((name) => [name, '']));
    expect(readConfig({ ...files, ...empty })).toEqual(readConfig(VALUES));
    const noFiles = Object.fromEntries(SECRET_SETTINGS.map((name) => [fileSetting(name), ' ']));
    expect(readConfig({ ...VALUES, ...noFiles })).toEqual(readConfig(VALUES));
  });

  test('is refused, without its value, if its file cannot be used', async () => {
    const path = (name: string) => join(folder, name);
    await writeFile(path('empty'), ' \n');
    await writeFile(path('lines'), 'canary\ncanary');
    await writeFile(path('large'), 'canary'.repeat(20_000));
    await mkdir(path('folder'));
    execFileSync('mkfifo', [path('pipe')]);
    const problems = Object.fromEntries(
      ['none', 'empty', 'lines', 'large', 'folder', 'pipe'].map((name) => [
        name,
        problemOf({ OPENAI_API_KEY_FILE: path(name) }),
      ]),
    );
    expect(problems).toEqual({
      none: 'OPENAI_API_KEY_FILE must be the path of a readable file: ENOENT',
      empty: 'OPENAI_API_KEY_FILE names an empty file',
      lines: 'OPENAI_API_KEY_FILE names a file with more than one line',
      large: 'OPENAI_API_KEY_FILE names a file with more than 65536 bytes',
      folder: 'OPENAI_API_KEY_FILE must be the path of a regular file',
      pipe: 'OPENAI_API_KEY_FILE must be the path of a regular file',
    });
  });

  test.skipIf(process.getuid?.() === 0)('is refused if its file is unreadable', async () => {
    await writeFile(join(folder, 'file'), 'canary');
    await chmod(join(folder, 'file'), 0);
    expect(problemOf({ OPENAI_API_KEY_FILE: join(folder, 'file') })).toBe(
      'OPENAI_API_KEY_FILE must be the path of a readable file: EACCES',
    );
  });

  test('that the value of its file breaks is named as the setting', async () => {
    await writeFile(join(folder, 'file'), 'canary');
    expect(problemOf({ DATABASE_URL_FILE: join(folder, 'file') })).toMatch(
      /^DATABASE_URL must be a postgresql:\/\/ address/,
    );
  });

  test('in the environment replaces both forms in `.env`', async () => {
    const path = join(folder, '.env');
    await writeFile(path, 'OPENAI_API_KEY_FILE=/none\nREDIS_URL=redis://a\nOPENAI_MODEL=m\n');
    const given = { OPENAI_API_KEY: 'canary', REDIS_URL_FILE: '/run/secrets/redis' };
    expect(await readSettings(given, path)).toEqual({
      values: { ...given, OPENAI_MODEL: 'm' },
      warning: undefined,
    });
  });
});

test('other settings have no form with `_FILE`', () => {
  expect(problemOf({ PARLEY_DATA_DIR_FILE: '/x' })).toMatch(
    /^PARLEY_DATA_DIR_FILE is not a setting of Parley/,
  );
});
