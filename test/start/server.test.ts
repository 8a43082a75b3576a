import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { signInByLink } from '../helpers/console.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { installation } from '../helpers/installation.ts';
import { type ServerProcess, startAndFail, startServer } from '../helpers/server.ts';

const lines = (output: string) => output.trim().split('\n');
const TWO_ADDRESSES = new URL('../fixtures/two-addresses.mjs', import.meta.url).href;
const secretKey = () => randomBytes(32).toString('base64');

describe('the start', () => {
  test('refuses unknown settings, with one line for each', async () => {
    const { code, output } = await startAndFail({
      env: { PARLEY_RETENTION: '1', PARLEY_COLOUR: 'blue' },
      dataDirectory: await temporaryDirectory(),
    });
    expect(code).toBe(1);
    expect(lines(output)).toEqual([
      'Parley cannot start: PARLEY_RETENTION is not a setting of Parley',
      'Parley cannot start: PARLEY_COLOUR is not a setting of Parley',
    ]);
  });

  test('reports a metrics port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, output } = await startAndFail(
      await installation('metrics_port', { PARLEY_METRICS_PORT: String(port) }),
    );
    other.close();
    expect(code).toBe(1);
    expect(lines(output)).toContain(
      `Parley cannot start: PARLEY_METRICS_PORT: ${port} is in use on 127.0.0.1. Stop the program that listens there, or set another PARLEY_METRICS_PORT.`,
    );
  });

  test('reports a host that cannot be resolved', async () => {
    const { code, output } = await startAndFail(await installation('host', { HOST: 'no..host' }));
    expect(code).toBe(1);
    expect(lines(output)).toContainEqual(
      expect.stringMatching(
        /^Parley cannot start: HOST, PORT: cannot listen on no\.\.host:0: .*ENOTFOUND.* Set another HOST or PORT\.$/,
      ),
    );
  });

  test('reports an unavailable PostgreSQL server, without its password', async () => {
    const { code, output } = await startAndFail({
      env: {
        DATABASE_URL: 'postgresql://u:hunter2@127.0.0.1:1/none',
        PARLEY_STARTUP_TIMEOUT: '0',
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
});

describe('a server', () => {
  const key = makeApiKey();
  const start = async (name: string, settings: Record<string, string>) =>
    startServer(await installation(name, { PARLEY_BOOTSTRAP_KEY: key, ...settings }));
  let server: ServerProcess;
  beforeAll(async () => {
    server = await start('server', {
      HOST: 'localhost',
      NODE_OPTIONS: `--import=${TWO_ADDRESSES}`,
      PARLEY_METRICS_PORT: '0',
    });
  });
  afterAll(() => server.stop('SIGTERM'));

  test('listens on one address of a host with several, and prints it', async () => {
    const { hostname, port } = new URL(server.url);
    expect(hostname).toBe('127.0.0.1');
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await expect(fetch(`http://[::1]:${port}/healthz`)).rejects.toThrow();
  });

  test('serves metrics on a separate port, and prints the URLs of both pages', async () => {
    const metrics = /Metrics: +(http\S+)/.exec(server.output())?.[1] ?? '';
    expect(server.output()).toContain(`Reference:   ${server.url}/docs\n`);
    const answer = await fetch(metrics);
    expect(await answer.text()).toMatch(/^parley_connections \d+$/m);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  });

  test('names the variable of the README for a key that it does not show', () => {
    expect(server.output()).toContain('"Authorization: Bearer $PARLEY_API_KEY"');
  });

  test('signs in once with the link that its first start prints', async () => {
    await signInByLink(server);
  });

  test('uses the operator’s key from PARLEY_BOOTSTRAP_KEY, and logs no key, message, query or header', async () => {
    const logging = await start('server_log', { LOG_LEVEL: 'trace' });
    const printed = logging.output().length;
    const headers = { authorization: `Bearer ${key}`, 'x-session-id': 'canary-session' };
    const streamed = await fetch(`${logging.url}/v1/bots/demo/chat/stream?message=canary-query`, {
      headers,
    });
    expect(streamed.status).toBe(200);
    await streamed.text();
    const post = (path: string, body: string) =>
      fetch(logging.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
    await post(
      '/v1/bots/demo/chat',
      '{"message": "canary-body", "context": {"a": "canary-context"}}',
    );
    await post('/graphql', JSON.stringify({ query: '{ bot(id: "canary-graphql") { id } }' }));
    expect(await logging.stop('SIGTERM')).toBe(0);
    expect(logging.output().slice(printed)).toContain('/v1/bots/demo/chat');
    expect(logging.output()).not.toMatch(/canary|parley_sk_/);
  });
});

describe('the secret key', () => {
  test('is refused if it is not the key of the database, unless the key of the database follows it', async () => {
    const first = secretKey();
    const { dataDirectory, env } = await installation('secret_key', { PARLEY_SECRET_KEY: first });
    const server = await startServer({ dataDirectory, env });
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
