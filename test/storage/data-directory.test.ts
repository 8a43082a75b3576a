import { once } from 'node:events';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import { createQueue } from '../../src/runs/queue/queue.ts';
import type { Database } from '../../src/storage/database.ts';
import { openEmbedded } from '../../src/storage/embedded.ts';
import { makeId } from '../../src/text/ids.ts';
import { signInByLink } from '../helpers/console.ts';
import { dataDirectoryInUse, temporaryDirectory } from '../helpers/directories.ts';
import { idOf } from '../helpers/runs.ts';
import { startAndFail, startServer } from '../helpers/server.ts';

const lines = (output: string) => output.trim().split('\n');

/** Enqueues a run. @returns its id. */
async function enqueue({ prisma, sql }: Database) {
  const [accountId, botId] = [makeId('acc'), makeId('bot')];
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
  const queue = createQueue({
    prisma,
    sql,
    owner: { id: () => makeId('own') },
    pubsub: createPubSub(),
    notify: () => {},
    log: { warn: () => {}, error: () => {} },
  });
  const what = { kind: 'EXECUTE', environment: 'PRODUCTION', channel: 'API', input: 'Hi' } as const;
  return idOf(await queue.enqueue({ accountId, plan: 'FREE', botId, ...what }));
}

describe.skipIf(inject('databaseUrl'))('a start on a data directory', () => {
  test('that fails because its port is in use starts no run, closes the database, and loses nothing', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const dataDirectory = await dataDirectoryInUse();
    const before = await openEmbedded(dataDirectory);
    const id = await enqueue(before);
    await before.close();
    const { code, output } = await startAndFail({ dataDirectory, env: { PORT: String(port) } });
    other.close();
    expect(code).toBe(1);
    expect(lines(output)).toContain(
      `Parley cannot start: PORT: ${port} is in use on 127.0.0.1. Stop the program that listens there, or set another PORT.`,
    );
    const after = await openEmbedded(dataDirectory);
    const run = await after.prisma.run.findUniqueOrThrow({ where: { id } });
    expect(run).toMatchObject({ status: 'QUEUED', attempt: 0 });
    expect(await after.prisma.owner.count()).toBe(0);
    await after.close();
    const server = await startServer({ dataDirectory });
    expect(server.operatorKey()).toMatch(/^parley_sk_\w{49}$/);
    await signInByLink(server);
    await server.stop('SIGTERM');
  });

  test('that another process uses reports it, and does not affect the other process', async () => {
    const dataDirectory = await dataDirectoryInUse();
    const first = await startServer({ dataDirectory });
    const { code, output } = await startAndFail({ dataDirectory });
    expect(code).toBe(1);
    expect(lines(output)).toEqual([
      `Parley cannot start: PARLEY_DATA_DIR: another Parley process is using ${dataDirectory}. Stop it, or name another directory.`,
    ]);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    await first.stop('SIGTERM');
  });

  test('that is not a directory reports it', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    const { code, output } = await startAndFail({ dataDirectory: join(file, 'data') });
    expect(code).toBe(1);
    expect(lines(output)).toEqual([
      expect.stringMatching(
        /^Parley cannot start: PARLEY_DATA_DIR: cannot use .*ENOTDIR.* Name a directory that this user may write to\.$/,
      ),
    ]);
  });

  test('with a damaged database reports it, and does not change it', async () => {
    const dataDirectory = await temporaryDirectory();
    await mkdir(join(dataDirectory, 'database'));
    await writeFile(join(dataDirectory, 'database', 'PG_VERSION'), 'nonsense');
    const { code, output } = await startAndFail({ dataDirectory });
    expect(code).toBe(1);
    expect(output).toMatch(
      /^Parley cannot start: PARLEY_DATA_DIR: the database in .* cannot be opened/m,
    );
    expect((await stat(join(dataDirectory, 'database', 'PG_VERSION'))).size).toBe(8);
  });

  test('whose creation was interrupted creates the database again', async () => {
    const dataDirectory = await temporaryDirectory();
    await mkdir(join(dataDirectory, 'database'));
    await writeFile(join(dataDirectory, 'database', 'PG_VERSION'), '18');
    await writeFile(join(dataDirectory, 'unfinished'), '');
    const database = await openEmbedded(dataDirectory);
    expect(await database.prisma.bot.count()).toBe(0);
    await database.close();
    await expect(stat(join(dataDirectory, 'unfinished'))).rejects.toThrow('ENOENT');
  });

  test('with a secret key that cannot be read reports it', async () => {
    const dataDirectory = await dataDirectoryInUse();
    await mkdir(join(dataDirectory, 'secret.key'));
    const { code, output } = await startAndFail({ dataDirectory });
    expect(code).toBe(1);
    expect(lines(output)).toEqual([
      expect.stringMatching(
        /^Parley cannot start: PARLEY_DATA_DIR: cannot read the secret key in /,
      ),
    ]);
  });
});
