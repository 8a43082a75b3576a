import { access, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from 'graphql-sse';
import { describe, expect, inject, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { newApiKey } from '../../src/accounts/new-key.ts';
import { resetOperatorKeys } from '../../src/accounts/operator.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { migratedDatabase } from '../helpers/database.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { installation } from '../helpers/installation.ts';
import { startServer } from '../helpers/server.ts';
import { createUser } from './terminal.ts';

const statusWith = async (url: string, key: string) => {
  const response = await fetch(`${url}/v1/bots/demo/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"message": "Hello!"}',
  });
  await response.text();
  return response.status;
};
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

/** A server after its first start, and a user with the same settings. */
async function startInstallation(name: string) {
  const options = await installation(name);
  const server = await startServer(options);
  atTheEnd(() => server.stop('SIGTERM').then(() => {}));
  const env = { ...options.env, PARLEY_DATA_DIR: options.dataDirectory };
  const user = await createUser(env);
  return { server, user, options, file: join(options.dataDirectory, 'operator-key') };
}

describe('parley key reset-operator', () => {
  test('makes a key that works, and ends the old one and its streams on running servers within their caches', async () => {
    const { server, user, options, file } = await startInstallation('operator_key');
    const old = server.operatorKey();
    expect(await statusWith(server.url, old)).toBe(200);
    const line = ['key', 'reset-operator', '--yes'];
    let { url } = server;
    if (inject('databaseUrl')) {
      const stream = createClient({
        url: `${url}/graphql/stream`,
        headers: { authorization: `Bearer ${old}` },
        retryAttempts: 0,
      });
      const events = stream.iterate({ query: 'subscription { runChanged(botId: "demo") { id } }' });
      // Chats with the old key may still change runs before it is refused.
      const ended = Array.fromAsync(events).catch((error: unknown) => error);
      const { code, stdout, stderr } = await user.parley(line);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(`^The new operator key key_\\w+ is in ${file}\\.\n$`),
      });
      expect(stderr).toMatch(/^Revoked the key key_\w+ \(Operator\)\.\n$/);
      await expect.poll(() => statusWith(url, old)).toBe(401);
      expect(JSON.stringify(await ended)).toContain('INVALID_API_KEY');
    } else {
      const refused = await user.parley(line);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain('another Parley process is using');
      expect(server.operatorKey()).toBe(old);
      await server.stop('SIGTERM');
      expect(await user.parley(line)).toMatchObject({ code: 0 });
      const again = await startServer(options);
      atTheEnd(() => again.stop('SIGTERM').then(() => {}));
      ({ url } = again);
      expect(await statusWith(url, old)).toBe(401);
    }
    const key = await readFile(file, 'utf8');
    expect(key).toMatch(/^parley_sk_\w{49}\n$/);
    expect(await modeOf(file)).toBe(0o600);
    expect(await statusWith(url, key.trim())).toBe(200);
    expect(server.output()).not.toContain('parley_sk_');
  });

  test('asks before, shows the key only on a terminal, and writes no file then', async () => {
    const { server, user, file } = await startInstallation('operator_question');
    await server.stop('SIGTERM');
    const before = await readFile(file, 'utf8');
    const silent = await user.parley(['key', 'reset-operator']);
    expect(silent).toMatchObject({ code: 2, stdout: '' });
    expect(silent.stderr).toContain('Without a terminal, add --yes.');

    const declined = user.terminal(['key', 'reset-operator']);
    await declined.shows('This revokes all operator keys and makes a new one. Continue?');
    declined.type('n');
    expect(await declined.code()).toBe(1);
    expect(declined.screen()).toContain('No key was changed.');

    const accepted = user.terminal(['key', 'reset-operator']);
    await accepted.shows('Continue?');
    accepted.type('y');
    await accepted.shows('is shown only once. Store it now.');
    expect(await accepted.code()).toBe(0);
    expect(accepted.screen()).toMatch(/^parley_sk_\w{49}\r?$/m);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  test('writes --key-file only to a new file, and changes no key if it cannot', async () => {
    const { server, user, file } = await startInstallation('operator_file');
    await server.stop('SIGTERM');
    const place = await temporaryDirectory();
    const [target, link, path] = ['target', 'link', 'key'].map((name) => join(place, name));
    await writeFile(target ?? '', 'kept');
    await symlink(target ?? '', link ?? '');
    for (const taken of [target, link]) {
      const refused = await user.parley(['key', 'reset-operator', '--yes', `--key-file=${taken}`]);
      expect(refused).toEqual({
        code: 1,
        stdout: '',
        stderr: `Error: ${taken} cannot be written: it exists.\n`,
      });
    }
    expect(await readFile(target ?? '', 'utf8')).toBe('kept');

    const line = ['key', 'reset-operator', '--yes', '--json', `--key-file=${path}`];
    const made = await user.parley(line);
    expect(JSON.parse(made.stdout)).toEqual({
      id: expect.stringMatching(/^key_/),
      revoked: [{ id: expect.stringMatching(/^key_/), name: 'Operator' }],
      file: path,
    });
    expect(await modeOf(path ?? '')).toBe(0o600);

    // Another user of the machine cannot redirect the file of the data directory.
    await rm(file);
    await symlink(target ?? '', file);
    expect(await user.parley(['key', 'reset-operator', '--yes'])).toMatchObject({ code: 0 });
    expect(await readFile(target ?? '', 'utf8')).toBe('kept');
    expect(await readFile(file, 'utf8')).toMatch(/^parley_sk_/);
  });

  test('refuses an empty database, which the first start sets up, and leaves no file', async () => {
    const { env, dataDirectory } = await installation('operator_empty');
    const user = await createUser({ ...env, PARLEY_DATA_DIR: dataDirectory });
    expect(await user.parley(['key', 'reset-operator', '--yes'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error: The database is empty. The first start makes the operator key.\n',
    });
    await expect(access(join(dataDirectory, 'operator-key'))).rejects.toThrow('ENOENT');
  });
});

describe('the reset of the operator keys', () => {
  test('revokes the operator keys of every account, keeps all other keys, and records it in the audit logs', async () => {
    const { prisma, close } = await migratedDatabase('operator_accounts');
    const account = (id: string, suspendedAt: Date | null = null) =>
      prisma.account.create({ data: { id, name: id, plan: 'PRO', suspendedAt } });
    await account('acc_1', new Date());
    await account('acc_2');
    await account('acc_3');
    const keys = [
      newApiKey('acc_1', makeApiKey(), { name: 'suspended', scopes: ['OPERATOR'] }),
      newApiKey('acc_2', makeApiKey(), { name: 'operator', scopes: ['OPERATOR', 'CHAT'] }),
      newApiKey('acc_2', makeApiKey(), { name: 'chat', scopes: ['CHAT', 'ADMIN'] }),
      newApiKey('acc_3', makeApiKey(), { name: 'other', scopes: ['ADMIN'] }),
    ];
    await prisma.apiKey.createMany({ data: keys });
    const { apiKey, revoked } = await resetOperatorKeys(prisma, makeApiKey());
    expect(apiKey).toMatchObject({ accountId: 'acc_2', restricted: false, expiresAt: null });
    expect(apiKey.scopes).toEqual(expect.arrayContaining(['OPERATOR', 'ADMIN', 'CHAT']));
    expect(revoked.map(({ name }) => name).sort()).toEqual(['operator', 'suspended']);
    const valid = await prisma.apiKey.findMany({ where: { revokedAt: null } });
    expect(valid.map(({ name }) => name).sort()).toEqual(['Operator', 'chat', 'other']);
    const entries = await prisma.auditEntry.findMany({ orderBy: { id: 'asc' } });
    expect(entries.map(({ accountId, action, keyId }) => [accountId, action, keyId])).toEqual(
      expect.arrayContaining([
        ['acc_1', 'REVOKE_API_KEY', null],
        ['acc_2', 'REVOKE_API_KEY', null],
        ['acc_2', 'CREATE_API_KEY', null],
      ]),
    );
    expect(entries).toHaveLength(3);

    await prisma.account.updateMany({ data: { suspendedAt: new Date() } });
    const next = await resetOperatorKeys(prisma, makeApiKey());
    expect(['acc_1', 'acc_2', 'acc_3']).not.toContain(next.apiKey.accountId);
    expect(next.revoked).toEqual([{ id: apiKey.id, name: 'Operator' }]);
    await close();
  });
});
