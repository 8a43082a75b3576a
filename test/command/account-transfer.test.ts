import { access, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agent } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { installation } from '../helpers/installation.ts';
import { startServer } from '../helpers/server.ts';
import { createUser } from './terminal.ts';

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

/** An installation after its first start, and a user on its machine. */
async function startInstallation(name: string) {
  const options = await installation(name);
  const server = await startServer(options);
  atTheEnd(() => server.stop('SIGTERM').then(() => {}));
  const user = await createUser({ ...options.env, PARLEY_DATA_DIR: options.dataDirectory });
  const operatorKey = server.operatorKey();
  return {
    user,
    operatorKey,
    url: server.url,
    /** Only one process can open the embedded database. */
    stop: () => server.stop('SIGTERM'),
    async start() {
      const again = await startServer(options);
      atTheEnd(() => again.stop('SIGTERM').then(() => {}));
      return again.url;
    },
  };
}

async function graphql(url: string, key: string, query: string, variables = {}) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: never; errors?: unknown };
  expect(errors).toBeUndefined();
  return data;
}

const chat = (url: string, key: string, message: string) =>
  fetch(`${url}/v1/bots/transfer/chat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-session-id': 'user-1',
    },
    body: JSON.stringify({ message }),
  });

describe('parley account export and import', () => {
  test('move an account between two installations', async () => {
    const first = await startInstallation('transfer_first');
    const { createAccount } = await graphql(
      first.url,
      first.operatorKey,
      'mutation { createAccount(input: { name: "Acme", plan: PRO }) { secret account { id } } }',
    );
    const { secret, account } = createAccount as { secret: string; account: { id: string } };
    await graphql(
      first.url,
      secret,
      `mutation ($source: String!) {
        createBot(input: { id: "transfer", name: "Transfer" }) { id }
        deploy(botId: "transfer", input: { source: $source }) { status }
      }`,
      { source: agent() },
    );
    expect((await chat(first.url, secret, 'Hello')).status).toBe(200);
    const suspend = `mutation { suspendAccount(id: "${account.id}") { id } }`;
    await graphql(first.url, first.operatorKey, suspend);
    await first.stop();

    const folder = await temporaryDirectory();
    const output = join(folder, 'acme.ndjson');
    const exported = await first.user.parley(['account', 'export', account.id, '--output', output]);
    expect(exported).toEqual({
      code: 0,
      stdout: `Exported the account ${account.id} (bots: 1, sessions: 1, runs: 1) to ${output}. The key for its variables is in ${output}.key.\n`,
      stderr: '',
    });
    expect([await modeOf(output), await modeOf(`${output}.key`)]).toEqual([0o600, 0o600]);

    const second = await startInstallation('transfer_second');
    await second.stop();
    const imported = await second.user.parley(['account', 'import', output, '--json']);
    expect(imported).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(imported.stdout)).toMatchObject({
      account: account.id,
      rows: { accounts: 1, bots: 1, runs: 1, messages: 2 },
    });
    const url = await second.start();
    expect((await chat(url, secret, 'Hello again')).status).toBe(401);
    const resume = `mutation { resumeAccount(id: "${account.id}") { id } }`;
    await graphql(url, second.operatorKey, resume);
    await expect.poll(async () => (await chat(url, secret, 'Hello again')).status).toBe(200);
    const { bot } = await graphql(
      url,
      secret,
      '{ bot(id: "transfer") { session(id: "user-1") { messages(first: 9) { edges { node { text } } } } } }',
    );
    const texts = JSON.stringify(bot);
    expect(texts).toContain('"Hello"');
    expect(texts).toContain('"Hello again"');
  });

  test('refuse files that exist, an unknown account and a wrong key file, and leave no files', async () => {
    const { user, stop } = await startInstallation('transfer_refused');
    await stop();
    const folder = await temporaryDirectory();
    const output = join(folder, 'out');
    const unknown = ['account', 'export', 'acc_none', '--output', output];
    expect(await user.parley(unknown)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error: There is no account "acc_none".\n',
    });
    expect(await readdir(folder)).toEqual([]);
    await writeFile(output, 'kept');
    expect(await user.parley(unknown)).toMatchObject({
      code: 1,
      stderr: `Error: ${output} cannot be written: it exists.\n`,
    });
    expect(await readFile(output, 'utf8')).toBe('kept');
    await expect(access(`${output}.key`)).rejects.toThrow('ENOENT');

    // Without a first start, no secret key is known that could encrypt the variables.
    const empty = await installation('transfer_empty');
    const early = await createUser({ ...empty.env, PARLEY_DATA_DIR: empty.dataDirectory });
    expect(await early.parley(['account', 'import', output])).toMatchObject({
      code: 1,
      stderr: 'Error: The database is empty. The first start makes the operator key.\n',
    });

    const line = ['account', 'import', output];
    expect(await user.parley(line)).toMatchObject({
      code: 1,
      stderr: `Error: ${output}.key cannot be read: ENOENT.\n`,
    });
    await writeFile(`${output}.key`, 'no key');
    expect(await user.parley(line)).toMatchObject({
      code: 1,
      stderr: `Error: ${output}.key is not the key file of an export.\n`,
    });
  });
});
