import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { makeApiKey } from '../src/accounts/key-format.ts';
import { createPubSub } from '../src/coordination/pubsub.ts';
import { makeId } from '../src/ids.ts';
import { createQueue } from '../src/runs/queue.ts';
import { type Database, openEmbedded } from '../src/storage/database.ts';
import { postSession } from './helpers/console.ts';
import { freshDatabase } from './helpers/database.ts';
import { idOf } from './helpers/runs.ts';
import {
  dataDirectoryInUse,
  type ServerProcess,
  startAndFail,
  startServer,
  temporaryDirectory,
} from './helpers/server.ts';

const lines = (output: string) => output.trim().split('\n');
const databaseUrl = inject('databaseUrl');
const TWO_ADDRESSES = new URL('./fixtures/two-addresses.mjs', import.meta.url).href;
const secretKey = () => randomBytes(32).toString('base64');

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
  return idOf(await queue.add({ accountId, plan: 'FREE', botId, ...what }));
}

/** Signs in to the console with the link that the first start prints. The link works once. */
async function signInByLink(server: ServerProcess) {
  const code = /\/\?code=(\S+) /.exec(server.output())?.[1];
  expect((await postSession(server, { code })).status).toBe(204);
  expect((await postSession(server, { code })).status).toBe(401);
}

/** These tests need neither PostgreSQL nor Redis. */
describe.skipIf(databaseUrl)('the start', () => {
  test('refuses unknown settings, with one line for each', async () => {
    const { code, output } = await startAndFail({
      env: { PARLEY_RETENTION: '1', PARLEY_COLOUR: 'blue' },
    });
    expect(code).toBe(1);
    expect(lines(output)).toEqual([
      'Parley cannot start: PARLEY_RETENTION is not a setting of Parley',
      'Parley cannot start: PARLEY_COLOUR is not a setting of Parley',
    ]);
  });

  test('reports a port that is in use, and loses nothing', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const dataDirectory = await dataDirectoryInUse();
    const { code, output } = await startAndFail({ dataDirectory, env: { PORT: String(port) } });
    other.close();
    expect(code).toBe(1);
    expect(lines(output)).toContain(
      `Parley cannot start: PORT: ${port} is in use on 127.0.0.1. Stop the program that listens there, or set another PORT.`,
    );
    const server = await startServer({ dataDirectory });
    expect(server.output()).toMatch(/API key: +parley_sk_\w{49} /);
    await signInByLink(server);
    await server.stop('SIGTERM');
  });

  test('starts no queued run if its port is in use, and closes what it opened', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const dataDirectory = await dataDirectoryInUse();
    const before = await openEmbedded(dataDirectory);
    const id = await enqueue(before);
    await before.close();
    await startAndFail({ dataDirectory, env: { PORT: String(port) } });
    other.close();
    const after = await openEmbedded(dataDirectory);
    const run = await after.prisma.run.findUniqueOrThrow({ where: { id } });
    expect(run).toMatchObject({ status: 'QUEUED', attempt: 0 });
    expect(await after.prisma.owner.count()).toBe(0);
    await after.close();
  });

  test('serves metrics on a separate port, and prints the URLs of both pages', async () => {
    const server = await startServer({ env: { PARLEY_METRICS_PORT: '0' } });
    const metrics = /Metrics: +(http\S+)/.exec(server.output())?.[1] ?? '';
    expect(server.output()).toContain(`Reference:   ${server.url}/docs\n`);
    const answer = await fetch(metrics);
    expect(await answer.text()).toContain('parley_connections 0');
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
    expect(await server.stop('SIGTERM')).toBe(0);
  });

  test('reports a metrics port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, output } = await startAndFail({ env: { PARLEY_METRICS_PORT: String(port) } });
    other.close();
    expect(code).toBe(1);
    expect(lines(output)).toContain(
      `Parley cannot start: PARLEY_METRICS_PORT: ${port} is in use on 127.0.0.1. Stop the program that listens there, or set another PARLEY_METRICS_PORT.`,
    );
  });

  test('reports a host that cannot be resolved', async () => {
    const { code, output } = await startAndFail({ env: { HOST: 'no..host' } });
    expect(code).toBe(1);
    expect(lines(output)).toContainEqual(
      expect.stringMatching(
        /^Parley cannot start: HOST, PORT: cannot listen on no\.\.host:0: .*ENOTFOUND.* Set another HOST or PORT\.$/,
      ),
    );
  });

  test('listens on one address of a host with several, and prints it', async () => {
    const server = await startServer({
      env: { HOST: 'localhost', NODE_OPTIONS: `--import=${TWO_ADDRESSES}` },
    });
    const { hostname, port } = new URL(server.url);
    expect(hostname).toBe('127.0.0.1');
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await expect(fetch(`http://[::1]:${port}/healthz`)).rejects.toThrow();
    await server.stop('SIGTERM');
  });

  test('reports a data directory in use by another process, which is not affected', async () => {
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

  test('reports an unusable data directory', async () => {
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

  test('reports a damaged embedded database, and does not change it', async () => {
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

  test('reports an unavailable PostgreSQL server, without its password', async () => {
    const { code, output } = await startAndFail({
      env: {
        DATABASE_URL: 'postgresql://u:hunter2@127.0.0.1:1/none',
        PARLEY_SECRET_KEY: secretKey(),
      },
    });
    expect(code).toBe(1);
    expect(lines(output)).toEqual([
      expect.stringMatching(
        /^Parley cannot start: DATABASE_URL: cannot use the database none at 127\.0\.0\.1:1: .* Is the server running, and does the database exist\?$/,
      ),
    ]);
    expect(output).not.toContain('hunter2');
  });

  test('uses the operator’s key from PARLEY_BOOTSTRAP_KEY, and prints it nowhere', async () => {
    const key = makeApiKey();
    const server = await startServer({ env: { PARLEY_BOOTSTRAP_KEY: key } });
    const response = await fetch(`${server.url}/v1/bots/demo/chat/stream?message=Hi`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
    await response.text();
    await signInByLink(server);
    expect(await server.stop('SIGTERM')).toBe(0);
    expect(server.output()).not.toContain('parley_sk_');
  });

  test('reports a secret key that cannot be read', async () => {
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

  test('makes the generated secret key readable only by its owner', async () => {
    const dataDirectory = await dataDirectoryInUse();
    const server = await startServer({ dataDirectory });
    await server.stop('SIGTERM');
    expect((await stat(join(dataDirectory, 'secret.key'))).mode & 0o777).toBe(0o600);
  });
});

describe.skipIf(databaseUrl)('the log', () => {
  test('contains no message, query, header or key', async () => {
    const server = await startServer({
      dataDirectory: await dataDirectoryInUse(),
      env: { LOG_LEVEL: 'trace' },
    });
    const key = /parley_sk_\w+/.exec(server.output())?.[0] ?? '';
    const printed = server.output().length;
    const headers = { authorization: `Bearer ${key}`, 'x-session-id': 'canary-session' };
    await (
      await fetch(`${server.url}/v1/bots/demo/chat/stream?message=canary-query`, { headers })
    ).text();
    await fetch(`${server.url}/v1/bots/demo/chat`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"message": "canary-body", "context": {"a": "canary-context"}}',
    });
    await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ bot(id: "canary-graphql") { id } }' }),
    });
    await server.stop('SIGTERM');
    const log = server.output().slice(printed);
    expect(log).toContain('/v1/bots/demo/chat');
    expect(log).not.toMatch(/canary|parley_sk_/);
  });
});

describe('the secret key', () => {
  test('is refused if it is not that of the database, unless that follows it', async () => {
    const dataDirectory = await dataDirectoryInUse();
    const first = secretKey();
    const env: Record<string, string> = databaseUrl
      ? { DATABASE_URL: await freshDatabase(databaseUrl, 'secret_key') }
      : {};
    const server = await startServer({ dataDirectory, env: { ...env, PARLEY_SECRET_KEY: first } });
    await server.stop('SIGTERM');
    const { code, output } = await startAndFail({
      dataDirectory,
      env: { ...env, PARLEY_SECRET_KEY: secretKey() },
    });
    expect(code).toBe(1);
    expect(lines(output)).toEqual([
      expect.stringMatching(
        /^Parley cannot start: PARLEY_SECRET_KEY is not the key that this database/,
      ),
    ]);
    const rotated = await startServer({
      dataDirectory,
      env: { ...env, PARLEY_SECRET_KEY: `${secretKey()},${first}` },
    });
    expect(await rotated.stop('SIGTERM')).toBe(0);
  });
});
