import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agent } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { dataDirectoryInUse } from '../helpers/directories.ts';
import { startSite } from '../helpers/site.ts';
import { COMMAND, createUser, type User } from './terminal.ts';

type Background = { child: ChildProcess; stdout(): string; stderr(): string };

/** Starts a command that runs until it is stopped. */
function startCommand(user: User, line: string[], env: Record<string, string>): Background {
  const child = spawn(process.execPath, [COMMAND, ...line], {
    cwd: user.home,
    env: { PATH: process.env.PATH, HOME: user.home, ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  atTheEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'close');
    }
  });
  return { child, stdout: () => stdout, stderr: () => stderr };
}

const settings = async () => ({ PORT: '0', PARLEY_DATA_DIR: await dataDirectoryInUse() });

describe('parley start', () => {
  test('runs the server, prints its address, and stops it gracefully at Ctrl-C', async () => {
    const user = await createUser();
    const variables = {
      ...(await settings()),
      PARLEY_API_KEY: 'x',
      PARLEY_URL: 'http://a.example',
    };
    const { child, stdout, stderr } = startCommand(user, ['start', '--json'], variables);
    await expect.poll(stdout).toMatch(/^\{"type":"listening","url":"http:\S+"\}\n$/);
    const { url } = JSON.parse(stdout());
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    expect(code).toBe(130);
    expect(stderr()).toContain('Shutting down.');
    await expect(fetch(`${url}/readyz`)).rejects.toThrow();
  });

  test('exits with 1 when the server cannot start, which says why', async () => {
    const user = await createUser();
    const outcome = await user.parley(['start'], { env: { PORT: 'none' } });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain('Parley cannot start: PORT must be a port number');
  });
});

describe('`.env` in a folder that was only visited', () => {
  test.each(['start', 'dev', 'doctor'])('runs no code with parley %s', async (command) => {
    const user = await createUser();
    const trace = join(user.home, 'ran');
    const script = join(user.home, 'evil.cjs');
    await writeFile(script, `require('node:fs').writeFileSync('${trace}', '')`);
    const text = `NODE_OPTIONS=--require=${script}\nBASH_ENV=x\nPARLEY_DATA_DIR=/dev/null/none\n`;
    await writeFile(join(user.home, '.env'), text);
    const { stdout, stderr } = await user.parley([command]);
    expect(stdout + stderr).toContain('not settings of Parley: BASH_ENV, NODE_OPTIONS.');
    await expect(access(trace)).rejects.toThrow('ENOENT');
  });
});

describe('parley dev', () => {
  test('deploys a definition at each save, and shows mistakes under their lines', async () => {
    const user = await createUser();
    const file = join(user.home, 'desk.agent');
    await writeFile(file, agent());
    const { child, stdout, stderr } = startCommand(user, ['dev', 'desk.agent'], await settings());
    await expect.poll(stdout).toMatch(/Deployed dep_\w+ to demo\./);
    const profiles = await readFile(join(user.home, '.config/parley/profiles.json'), 'utf8');
    expect(JSON.parse(profiles)).toMatchObject({ current: 'local', profiles: [{ name: 'local' }] });

    await writeFile(file, agent('chanel web'));
    await expect.poll(stderr).toContain('  chanel web\n      |   ^^^^^^\n');
    await expect.poll(stderr).toContain('desk.agent was not deployed.');

    // Editors replace a file by renaming another one.
    await writeFile(`${file}.new`, agent('prompt "You are better."'));
    await rename(`${file}.new`, file);
    await expect.poll(() => stdout().match(/Deployed dep_/g)).toHaveLength(2);
    const { stdout: list } = await user.parley(['deployments', '--bot', 'demo', '--json']);
    expect(JSON.parse(list)).toHaveLength(3);
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
  });

  test('without a definition to watch says so, and stores the key of a first start', async () => {
    const user = await createUser();
    for (const name of ['one.agent', 'two.agent'])
      await writeFile(join(user.home, name), agent('channel web'));
    const { child, stdout, stderr } = startCommand(user, ['dev'], await settings());
    await expect.poll(stdout).toContain('Parley is listening on');
    await expect.poll(stderr).toContain('No definition is watched. Name one: parley dev FILE.');
    const profiles = await readFile(join(user.home, '.config/parley/profiles.json'), 'utf8');
    expect(JSON.parse(profiles)).toMatchObject({ current: 'local', profiles: [{ name: 'local' }] });
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
  });
});

describe('parley doctor', () => {
  test('checks every requirement of a server, and names the remedies', async () => {
    const user = await createUser();
    const good = await user.parley(['doctor', '--json'], { env: await settings() });
    expect(good.code).toBe(0);
    const checks: { name: string; status: string }[] = JSON.parse(good.stdout);
    expect(checks.map(({ name, status }) => `${name}: ${status}`)).toEqual([
      'Command: ok',
      'Node.js: ok',
      'Settings: ok',
      'Database: ok',
      'Redis: ok',
      'Model server: warning',
      'Port: ok',
      'Clock: ok',
      'Data directory: ok',
    ]);

    const site = await startSite();
    atTheEnd(site.close);
    site.handle((_request, response) => response.writeHead(401).end());
    const busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    atTheEnd(() => void busy.close());
    await writeFile(join(user.home, 'file'), '');
    const address = busy.address();
    const bad = await user.parley(['doctor'], {
      env: {
        PORT: `${typeof address === 'object' ? address?.port : 0}`,
        DATABASE_URL: 'postgresql://u:canary@127.0.0.1:65531/none',
        PARLEY_SECRET_KEY: Buffer.alloc(32).toString('base64'),
        REDIS_URL: 'redis://:canary@127.0.0.1:65531',
        OPENAI_API_KEY: 'canary',
        OPENAI_BASE_URL: `${site.origin}/v1`,
        OPENAI_MODEL: 'm',
        PARLEY_DATA_DIR: join(user.home, 'file'),
      },
    });
    expect(bad.code).toBe(1);
    for (const remedy of [
      'Start PostgreSQL, create the database, or set DATABASE_URL to another one.',
      'Stop that program, or set another PORT.',
      'Set PARLEY_DATA_DIR to a directory.',
    ])
      expect(bad.stdout).toContain(remedy);
    expect(bad.stdout).toContain('Start Redis');
    expect(bad.stdout).toContain('refuses the API key (HTTP 401)');
    expect(bad.stdout).toContain('another program listens on');
    expect(bad.stdout).toContain('is no directory');
    expect(bad.stderr).toBe(
      'Error: Not in order: Database, Redis, Model: key, Port, Data directory.\n',
    );
    expect(bad.stdout).not.toContain('canary');

    const typo = await user.parley(['doctor'], { env: { PARLEY_DATADIR: 'x' } });
    expect(typo.stdout).toContain('did you mean PARLEY_DATA_DIR?');
  });
});

describe('parley test --local', () => {
  const SOURCE = agent(
    'prompt "p" test "echoes" { user "Hi there" expect reply contains "Hi there" } test "judges" { user "a" expect reply judged "Polite." }',
  );

  test('runs tests without a server or a key, and leaves nothing behind', async () => {
    const user = await createUser();
    await writeFile(join(user.home, 'desk.agent'), SOURCE);
    // Settings that would lead to data which exists.
    await writeFile(join(user.home, '.env'), 'DATABASE_URL=postgresql://127.0.0.1:1/none\n');
    const { stdout, code } = await user.parley(['test', 'desk.agent', '--local']);
    expect(stdout).toContain('✓ echoes\n');
    expect(stdout).toContain('- judges\n');
    expect(stdout).toContain('1 passed, 0 failed, 1 skipped\n');
    expect(code).toBe(0);
    await expect(access(join(user.home, '.parley'))).rejects.toThrow();
  });

  test('does not go together with a bot or recorded runs', async () => {
    const user = await createUser();
    for (const more of [
      ['--bot', 'demo'],
      ['--replay', '5'],
    ])
      expect((await user.parley(['test', 'desk.agent', '--local', ...more])).code).toBe(2);
  });
});
