import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openSecretLink } from '../../src/command/account/browser.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { createUser, type User } from './terminal.ts';

let app: TestApp;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  user = await createUser();
});

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe.each(['000', '077', '777'])('with the umask %s', (umask) => {
  const shell = (line: string) => user.shell(`umask ${umask}; ${line}`, { stdin: tenant.apiKey });

  test('the file of profiles is private', async () => {
    const place = join(user.home, `login-${umask}`);
    await mkdir(join(place, 'parley'), { recursive: true });
    expect(await shell(`XDG_CONFIG_HOME=${place} parley login ${app.url}`)).toMatchObject({
      code: 0,
    });
    const path = join(place, 'parley/profiles.json');
    expect(await modeOf(path)).toBe('600');
    expect(await readFile(path, 'utf8')).toContain(tenant.apiKey);
  });

  test('a key is written to a new private file, and not printed', async () => {
    const path = join(user.home, `key-${umask}.txt`);
    const env = `PARLEY_URL=${app.url} PARLEY_API_KEY=${tenant.apiKey}`;
    const made = await shell(`${env} parley keys create ci --output ${path}`);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(/^The key key_\w+ is in \/.+\.txt\.\n$/);
    expect(await modeOf(path)).toBe('600');
    const secret = (await readFile(path, 'utf8')).trim();
    const asked = await tenant.graphql('{ viewer { account { apiKeys { id name } } } }');
    expect(asked.errors).toBeUndefined();
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${app.url}/v1/bots/none/runs`, { headers })).status).not.toBe(401);

    const again = await shell(`${env} parley keys create ci2 --output ${path}`);
    expect(again).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `Error: ${path} cannot be written: it exists. No key was made.\n`,
    });
    const listed = await app.graphql(tenant.apiKey, '{ viewer { account { apiKeys { name } } } }');
    expect(JSON.stringify(listed.data)).not.toContain('ci2');
    const refused = await shell(`${env} parley keys create x --expires never --output ${path}.2`);
    expect(refused.code).not.toBe(0);
    await expect(stat(`${path}.2`)).rejects.toThrow('ENOENT');
  });

  test('the variables of a new definition, and a copy of them, are private', async () => {
    const place = join(user.home, `init-${umask}`);
    await mkdir(place);
    await shell(`cd ${place} && parley init && umask 022 && cp .env.example .env`);
    expect(await modeOf(join(place, '.env.example'))).toBe('600');
    expect(await modeOf(join(place, '.env'))).toBe('600');
  });
});

test('a key that is made but cannot be written is named, with how to revoke it', async () => {
  const path = join(user.home, `full.txt`);
  const env = `PARLEY_URL=${app.url} PARLEY_API_KEY=${tenant.apiKey}`;
  // Files cannot grow beyond 0 bytes.
  const made = await user.shell(`ulimit -f 0; ${env} parley keys create full --output ${path}`);
  const { data } = await app.graphql(
    tenant.apiKey,
    '{ viewer { account { apiKeys { id name revokedAt } } } }',
  );
  const { id } = data.viewer.account.apiKeys.find(
    ({ name, revokedAt }: { name: string; revokedAt: string | null }) =>
      name === 'full' && revokedAt === null,
  );
  expect(made).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `Error: The key ${id} was made, but ${path} cannot be written: EFBIG. Revoke the key: parley keys revoke ${id}\n`,
  });
  await expect(stat(path)).rejects.toThrow('ENOENT');
  expect(await user.shell(`${env} parley keys revoke ${id}`)).toMatchObject({ code: 0 });
});

describe('a secret link', () => {
  test('is gone when the time for the browser is over, also for one that keeps running', async () => {
    const programs = join(user.home, 'openers');
    await mkdir(programs);
    const opener = join(programs, 'xdg-open');
    vi.stubEnv('PATH', `${programs}:${process.env.PATH}`);
    atTheEnd(() => void vi.unstubAllEnvs());
    const home = join(user.home, 'home');
    await mkdir(home);
    const pid = join(user.home, 'pid');
    for (const script of ['exit 0', `echo $$ > '${pid}'; exec sleep 600`]) {
      await writeFile(opener, `#!/bin/sh\n${script}`);
      await chmod(opener, 0o755);
      const options = { home, signal: new AbortController().signal, keptMs: 20 };
      expect(await openSecretLink('http://127.0.0.1/#code=x', options)).toBe(true);
      expect(await readdir(home)).toEqual([]);
    }
    await expect.poll(() => readFile(pid, 'utf8').catch(() => '')).toMatch(/\d+\n/);
    process.kill(Number(await readFile(pid, 'utf8')));
  });

  test('stands in the directory of temporary files if the home cannot be written', async () => {
    vi.stubEnv('PATH', '/nowhere');
    atTheEnd(() => void vi.unstubAllEnvs());
    const before = await readdir(tmpdir());
    const options = { home: '/proc/none', signal: new AbortController().signal, keptMs: 0 };
    await openSecretLink('http://127.0.0.1/#code=x', options);
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith('parley-sign-in-'));
    expect(left.filter((name) => !before.includes(name))).toEqual([]);
  });
});
