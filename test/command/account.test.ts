import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { KEPT_MS } from '../../src/command/account/browser.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { postSession } from '../helpers/console.ts';
import { startSite } from '../helpers/site.ts';
import { CTRL_C, createUser, ENTER, type User } from './terminal.ts';

let app: TestApp;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  user = await createUser();
});

const fileOf = ({ home }: User) => join(home, '.config/parley/profiles.json');
/** Lets the command keep the link for ten minutes in place of ten seconds, which a busy machine may pause for. */
const LONG_KEPT = `import timers from 'node:timers/promises';
  import { syncBuiltinESMExports } from 'node:module';
  const { setTimeout } = timers;
  timers.setTimeout = (ms, ...rest) => setTimeout(ms === ${KEPT_MS} ? 600_000 : ms, ...rest);
  syncBuiltinESMExports();`;
const lastLine = (text: string) => text.trimEnd().split('\n').at(-1);

describe('parley login', () => {
  test('stores a key from stdin in a file that only the user can read', async () => {
    const { code, stdout, stderr } = await user.parley(['login', `${app.url}/v1`], {
      stdin: `${tenant.apiKey}\n`,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Logged in to ${app.url} as Tenant, with the key "Key".`);
    expect(stdout).not.toContain(tenant.apiKey);
    expect((await stat(fileOf(user))).mode & 0o777).toBe(0o600);
    expect((await stat(join(user.home, '.config/parley'))).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(fileOf(user), 'utf8'))).toEqual({
      current: 'default',
      profiles: [{ name: 'default', url: app.url, apiKey: tenant.apiKey }],
    });
  });

  test('asks for the key in a terminal without showing it, and exits with 130 on Ctrl-C', async () => {
    const person = await createUser();
    const asked = person.terminal(['login', app.url]);
    await asked.shows('API key');
    asked.type(tenant.apiKey);
    asked.type(ENTER);
    expect(await asked.code()).toBe(0);
    expect(asked.raw()).not.toContain(tenant.apiKey.slice(10, 30));
    expect(asked.screen()).toContain('Logged in to');

    const cancelled = person.terminal(['login', app.url, '--profile', 'other']);
    await cancelled.shows('API key');
    cancelled.type(CTRL_C);
    expect(await cancelled.code()).toBe(130);
    expect(await readFile(fileOf(person), 'utf8')).not.toContain('other');
  });

  test('keeps no key that the server refuses', async () => {
    const person = await createUser();
    for (const stdin of ['parley_sk_wrong', `${tenant.apiKey}x`]) {
      expect(await person.parley(['login', app.url], { stdin })).toEqual({
        code: 1,
        stdout: '',
        stderr: `Error: ${app.url} refuses the key. Nothing was stored.\n`,
      });
    }
    const empty = await person.parley(['login', app.url]);
    expect(empty).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No API key is given.'),
    });
    const address = await person.parley(['login', tenant.apiKey], { stdin: 'x' });
    expect(address.code).toBe(2);
    expect(address.stderr).not.toContain(tenant.apiKey);
    await expect(stat(fileOf(person))).rejects.toThrow('ENOENT');
  });

  test('keeps one server for each profile, and says how to name a second one', async () => {
    const second = await user.parley(['login', 'http://127.0.0.1:1'], { stdin: 'k' });
    expect(second.code).toBe(1);
    expect(second.stderr).toBe(
      `Error: The profile "default" is for ${app.url}. Name another one, parley login http://127.0.0.1:1 --profile NAME, or remove it first: parley logout.\n`,
    );
    const other = await app.tenant();
    const named = await user.parley(['login', app.url, '--profile', 'other'], {
      stdin: other.apiKey,
    });
    expect(named.code).toBe(0);
    const list = JSON.parse((await user.parley(['use', '--json'])).stdout);
    expect(list).toMatchObject([
      { name: 'default', current: false },
      { name: 'other', current: true },
    ]);
    expect((await user.parley(['use', '--profile', 'default'])).code).toBe(0);
    const unknown = await user.parley(['whoami', '--profile', 'othr']);
    expect(unknown.stderr).toContain('There is no profile "othr". Did you mean "other"?');
    expect((await user.parley(['logout', '--profile', 'other'])).code).toBe(0);
    expect((await user.parley(['use'])).stdout).not.toContain('other');
  });

  test('explains a full disk, and a home that cannot be written, in one line each', async () => {
    const person = await createUser();
    const full = await person.shell(`ulimit -f 0; parley login ${app.url}; echo $?`, {
      stdin: tenant.apiKey,
    });
    expect(full.stderr).toBe(
      `Error: The key cannot be stored in ${fileOf(person)}: the disk is full. Free some space, or set PARLEY_API_KEY and PARLEY_URL instead.\n`,
    );
    expect(full.stdout).toBe('1\n');
    expect(await readdir(join(person.home, '.config/parley'))).toEqual([]);

    const elsewhere = await person.parley(['login', app.url], {
      stdin: tenant.apiKey,
      env: { HOME: '/proc' },
    });
    expect(elsewhere.code).toBe(1);
    expect(elsewhere.stderr).toMatch(
      /^Error: The key cannot be stored in \/proc\/\.config\/parley\/profiles\.json: .*or set PARLEY_API_KEY and PARLEY_URL instead\.\n$/,
    );
  });
});

describe('the file of profiles', () => {
  test('is refused when other users can read it, or when it is not valid', async () => {
    const person = await createUser();
    await mkdir(join(person.home, '.config/parley'), { recursive: true });
    const profile = { name: 'a', url: app.url, apiKey: tenant.apiKey };
    const store = async (text: string, mode: number) => {
      await writeFile(fileOf(person), text);
      await chmod(fileOf(person), mode);
      const outcome = await person.parley(['bots']);
      expect(outcome).toMatchObject({ code: 1, stdout: '' });
      return outcome.stderr;
    };
    const valid = JSON.stringify({ current: 'a', profiles: [profile] });
    expect(await store(valid, 0o640)).toBe(
      `Error: ${fileOf(person)} holds API keys, but other users can access it (mode 640). Run: chmod 600 ${fileOf(person)}\n`,
    );
    const twice = JSON.stringify({ current: 'a', profiles: [profile, profile] });
    expect(await store(twice, 0o600)).toBe(
      `Error: ${fileOf(person)} has two profiles named "a". Rename or remove one of them in the file.\n`,
    );
    for (const broken of [`{"current": ${tenant.apiKey}`, '[]', '{"current":"a","profiles":[{}]}'])
      expect(await store(broken, 0o600)).toBe(
        `Error: ${fileOf(person)} is not a valid file of profiles. Remove it, then run: parley login\n`,
      );
  });
});

describe('the server and the key', () => {
  test('come from the environment before the profile', async () => {
    const other = await app.tenant();
    const env = { PARLEY_API_KEY: other.apiKey };
    const { stdout } = await user.parley(['whoami', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      url: app.url,
      profile: null,
      account: { id: other.accountId },
    });
    const own = JSON.parse((await user.parley(['whoami', '--json'])).stdout);
    expect(own).toMatchObject({ profile: 'default', account: { id: tenant.accountId } });
  });

  test('belong together: the key of a profile is not sent to another server', async () => {
    const site = await startSite();
    atTheEnd(site.close);
    const { code, stderr } = await user.parley(['bots'], { env: { PARLEY_URL: site.origin } });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `Error: PARLEY_URL is ${site.origin}, but the key of the profile "default" is for ${app.url}. Set PARLEY_API_KEY too, or unset PARLEY_URL.\n`,
    );
    expect(site.requests).toEqual([]);
  });

  test.each([
    [
      { PARLEY_URL: 'http://127.0.0.1:65531' },
      1,
      'Cannot reach http://127.0.0.1:65531 (ECONNREFUSED). Is the server running?',
    ],
    [{ PARLEY_URL: 'ftp://x' }, 2, 'PARLEY_URL must be the origin of a server'],
    [
      { PARLEY_API_KEY: 'parley_sk_wrong' },
      1,
      'The server refuses the API key. Check PARLEY_API_KEY.',
    ],
  ])('that do not work are named in one line: %o', async (wrong, expected, message) => {
    const env = { PARLEY_API_KEY: tenant.apiKey, PARLEY_URL: app.url, ...wrong };
    for (const line of [['bots'], ['runs', '--bot', 'x']]) {
      const { code, stdout, stderr } = await user.parley(line, { env });
      expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
      expect(stderr).toContain(`Error: ${message}`);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });

  test('of another version are named with the remedy', async () => {
    const site = await startSite();
    atTheEnd(site.close);
    site.handle(({ url, body }, response) => {
      if (url === '/healthz') return response.end('{"status":"ok","version":"7.1.0"}');
      const message = body.includes('documentId')
        ? 'There is no document with this documentId.'
        : 'Cannot query field "viewer" on type "Query".';
      const code = body.includes('documentId') ? 'NOT_FOUND' : 'GRAPHQL_VALIDATION_FAILED';
      response.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }));
    });
    const env = { PARLEY_API_KEY: tenant.apiKey, PARLEY_URL: site.origin };
    const old = await user.parley(['whoami'], { env });
    expect(old.code).toBe(1);
    expect(old.stderr).toMatch(
      /^Error: The server at http:\S+ runs Parley 7\.1\.0, which does not know this request of parley \S+\. Use the command of the version 7\.1\.0, or update the server\.\n$/,
    );
    site.handle((_request, response) => response.end('<h1>It works!</h1>'));
    const foreign = await user.parley(['whoami'], { env });
    expect(foreign.stderr).toContain(`The server at ${site.origin} is no Parley server.`);
  });
});

describe('bots and keys', () => {
  test('are created, listed, renamed, restricted, revoked and deleted', async () => {
    const id = `desk-${randomBytes(4).toString('hex')}`;
    const created = await user.parley(['bots', 'create', id, '--name', 'Order desk']);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect((await user.parley(['bots', 'rename', id, 'Service desk'])).code).toBe(0);
    const list = await user.parley(['bots']);
    expect(list.stdout).toMatch(/^ID +NAME +PRODUCTION +STAGING +CREATED\n/);
    expect(list.stdout).toContain(`${id}  Service desk`);

    const almost = await user.parley(['use', `${id}x`]);
    expect(almost).toMatchObject({ code: 1, stdout: '' });
    expect(lastLine(almost.stderr)).toBe(
      `Error: There is no bot "${id}x" that the key may use. Did you mean "${id}"?`,
    );
    expect((await user.parley(['use', id])).code).toBe(0);

    const line = ['keys', 'create', 'ci', '--scope', 'deploy', '--scope', 'runs', '--bot', id];
    const key = await user.parley([...line, '--expires', '30d']);
    expect(key.stdout).toMatch(/^parley_sk_\w{49}\n$/);
    const env = { PARLEY_API_KEY: key.stdout.trim() };
    const whoami = JSON.parse((await user.parley(['whoami', '--json'], { env })).stdout);
    expect(whoami.key).toMatchObject({ name: 'ci', scopes: ['deploy', 'runs'], bots: [id] });
    expect(Date.parse(whoami.key.expiresAt)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
    const refused = await user.parley(['keys'], { env });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('lacks the scope');

    expect((await user.parley(['keys'])).stdout).toContain(whoami.key.id);
    expect((await user.parley(['keys', 'revoke', whoami.key.id])).code).toBe(0);
    expect((await user.parley(['whoami'], { env })).stderr).toContain('refuses the API key');
    const own = JSON.parse((await user.parley(['whoami', '--json'])).stdout).key.id;
    expect(await user.parley(['keys', 'revoke', own])).toMatchObject({
      code: 2,
      stderr: 'Error: This is the key that the command uses. To revoke it, add --yes.\n',
    });
    expect((await user.parley(['keys', 'create', 'x', '--expires', 'soon'])).code).toBe(2);

    expect((await user.parley(['bots', 'delete', id])).code).toBe(2);
    const asked = user.terminal(['bots', 'delete', id]);
    await asked.shows('conversations and');
    asked.type(`wrong${ENTER}`);
    expect(await asked.code()).toBe(1);
    expect(await user.parley(['bots', 'delete', id, '--yes', '--json'])).toMatchObject({ code: 0 });
    expect(JSON.parse((await user.parley(['bots', '--json'])).stdout)).toEqual([]);
    expect((await user.parley(['bots'])).stdout).toContain('There are no bots.');
  });

  test('parley open passes its link in a file that only the user can read, and deletes it', async () => {
    const programs = join(user.home, 'programs');
    const seen = join(user.home, 'seen');
    await mkdir(programs, { recursive: true });
    // What others can see of the process, and what the browser gets.
    const opener = `#!/bin/sh
      exec > '${seen}.new'
      tr '\\0' '\\n' < "/proc/$$/cmdline"
      stat -c '%a' "$1" "$(dirname "$1")"
      cat "$1"
      mv '${seen}.new' '${seen}'`;
    await writeFile(join(programs, 'xdg-open'), opener);
    await chmod(join(programs, 'xdg-open'), 0o755);
    const env = { PATH: `${programs}:${process.env.PATH}` };
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(LONG_KEPT)}`;
    const opened = user.terminal(['open'], { env: { ...env, NODE_OPTIONS } });
    await opened.shows('deleted in 10 s');
    const [link = ''] = /http\S+code=[\w-]+/.exec(opened.screen()) ?? [];
    expect(link).toContain(app.url);
    await expect.poll(() => readFile(seen, 'utf8').catch(() => '')).toContain(link);
    const [, , path = '', ...rest] = (await readFile(seen, 'utf8')).split('\n');
    expect(path).toMatch(/^\/.+\/parley-sign-in-\w+\/sign-in\.html$/);
    expect(rest.slice(0, 2)).toEqual(['600', '700']);
    expect(rest.join('\n')).toContain(`content="0; url=${link}"`);
    opened.type(CTRL_C);
    expect(await opened.code()).toBe(130);
    await expect(stat(dirname(path))).rejects.toThrow('ENOENT');

    await writeFile(join(programs, 'xdg-open'), '#!/bin/sh\nexit 3');
    const failed = user.terminal(['open'], { env });
    await failed.shows('No browser could be opened. Open the link yourself.');
    expect(await failed.code()).toBe(0);
    expect((await readdir(user.home)).filter((name) => name.startsWith('parley-sign'))).toEqual([]);
  });

  test('a link of parley open signs in to the console', async () => {
    const { stdout } = await user.parley(['open', '--no-browser']);
    const { origin, pathname, hash } = new URL(stdout.trim());
    expect([origin, pathname]).toEqual([app.url, '/sign-in']);
    expect((await postSession(app, { code: hash.replace('#code=', '') })).status).toBe(204);
  });
});
