import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { freshDatabase, migratedUrl } from '../helpers/database.ts';
import { dataDirectoryInUse, temporaryDirectory } from '../helpers/directories.ts';
import { type ServerProcess, startServer } from '../helpers/server.ts';
import { startUpstream, type Upstream } from '../helpers/upstream.ts';

const run = promisify(execFile);
const databaseUrl = inject('databaseUrl');
const apiKey = makeApiKey();
const MODEL_KEY = 'key-of-the-definition';
/** Two servers start in sequence, each with its own database. */
const TIME_LIMIT_MS = 300_000;
const SESSIONS = ['ada', 'bob', 'eve'];

/** A definition with an encrypted variable. Without the secret key, it cannot chat. */
const definition = (baseUrl: string) => `agentlang 5
agent "Restored" {
  description "A test."
  prompt "You are a test."
  history last 500 messages
  model "scripted" {
    base_url "${baseUrl}"
    api_key env.MODEL_KEY
  }
}
`;

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
  // Replies with the number of user messages that it received.
  upstream.script(({ request, say, end }) => {
    say(String(request.body.messages.filter(({ role }) => role === 'user').length));
    end();
  });
});
afterAll(() => upstream.close());

async function post({ url }: ServerProcess, path: string, body: object, session = '') {
  const response = await fetch(`${url}/v1/bots/demo/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      ...(session && { 'x-session-id': session }),
    },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { status?: string; response?: string };
}

const chat = async (server: ServerProcess, session: string) =>
  Number((await post(server, 'chat', { message: 'Hi' }, session)).response);

/** Chats in every session until it is stopped. A chat that the server's exit interrupts does not count. */
function load(server: ServerProcess) {
  const answered = new Map(SESSIONS.map((session) => [session, 0]));
  const stopped = new AbortController();
  const chatRepeatedly = async (session: string) => {
    while (!stopped.signal.aborted) {
      const count = await chat(server, session).catch(() => Number.NaN);
      if (Number.isNaN(count)) return;
      answered.set(session, count);
    }
  };
  const chatting = Promise.all(SESSIONS.map(chatRepeatedly));
  return {
    answered,
    async stop() {
      stopped.abort();
      await chatting;
    },
  };
}

/** An installation, with functions that back it up under load and restore the backup elsewhere. */
type Installation = {
  start(): Promise<ServerProcess>;
  backUp(server: ServerProcess): Promise<void>;
  startRestored(): Promise<ServerProcess>;
};

async function onPostgreSQL(env: Record<string, string>): Promise<Installation> {
  const secret = { PARLEY_SECRET_KEY: randomBytes(32).toString('base64') };
  const [original, restored] = [
    await migratedUrl(databaseUrl, 'original'),
    await freshDatabase(databaseUrl, 'restored'),
  ];
  const file = join(await temporaryDirectory(), 'parley.dump');
  return {
    start: () => startServer({ env: { ...env, ...secret, DATABASE_URL: original } }),
    async backUp() {
      await run('pg_dump', ['--format=custom', `--file=${file}`, original]);
    },
    async startRestored() {
      await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${restored}`, file]);
      return startServer({ env: { ...env, ...secret, DATABASE_URL: restored } });
    },
  };
}

async function embedded(env: Record<string, string>): Promise<Installation> {
  const [original, copy] = [await dataDirectoryInUse(), await temporaryDirectory()];
  return {
    start: () => startServer({ env, dataDirectory: original }),
    async backUp(server) {
      expect(await server.stop('SIGTERM')).toBe(0);
      await cp(original, copy, { recursive: true });
    },
    startRestored: () => startServer({ env, dataDirectory: copy }),
  };
}

test(
  'a backup that was made under load can be restored elsewhere, and every conversation continues',
  async () => {
    const env = {
      PARLEY_BOOTSTRAP_KEY: apiKey,
      PARLEY_ALLOWED_HOSTS: new URL(upstream.baseUrl).host,
    };
    const installation = await (databaseUrl ? onPostgreSQL(env) : embedded(env));
    const server = await installation.start();
    const agentlang = definition(upstream.baseUrl);
    const deploy = await post(server, 'deploy', { agentlang, env_vars: { MODEL_KEY } });
    expect(deploy.status).toBe('deployed');
    const { answered, stop } = load(server);
    await expect.poll(() => Math.min(...answered.values())).toBeGreaterThan(5);
    const before = new Map(answered);
    await installation.backUp(server);
    await stop();
    await server.stop('SIGTERM');

    const restored = await installation.startRestored();
    for (const session of SESSIONS) {
      const count = await chat(restored, session);
      expect(count).toBeGreaterThan(before.get(session) ?? 0);
      expect(count).toBeLessThanOrEqual((answered.get(session) ?? 0) + 2);
    }
    expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${MODEL_KEY}`);
    expect(await restored.stop('SIGTERM')).toBe(0);
  },
  TIME_LIMIT_MS,
);
