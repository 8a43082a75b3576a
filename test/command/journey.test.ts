import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { readDefinition } from '../../src/language/read.ts';
import { freshDatabase } from '../helpers/database.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { type ServerProcess, startServer } from '../helpers/server.ts';
import { CTRL_C, createUser, type User } from './terminal.ts';

const EXAMPLES = globSync(new URL('../../prisma/examples/*.agent', import.meta.url).pathname);
const CANARY = `canary-${randomBytes(8).toString('hex')}`;
/** Values in the form that each variable of an example needs. */
const VALUES: Record<string, string> = {
  HANDBOOK_MCP_URL: `http://127.0.0.1:9/${CANARY}`,
  TRANSLATION_SERVER_URL: `http://127.0.0.1:9/${CANARY}`,
};

describe('a newcomer with the command', () => {
  let server: ServerProcess;
  let user: User;
  let key: string;
  /** All that the commands printed. */
  const printed: string[] = [];

  beforeAll(async () => {
    const databaseUrl = inject('databaseUrl');
    server = await startServer({
      dataDirectory: await temporaryDirectory(),
      env: databaseUrl
        ? {
            DATABASE_URL: await freshDatabase(databaseUrl, 'command'),
            PARLEY_SECRET_KEY: randomBytes(32).toString('base64'),
          }
        : {},
    });
    key = server.operatorKey();
    user = await createUser();
  });

  afterAll(async () => {
    await server.stop('SIGTERM');
  });

  const parley = async (line: string[], options = {}) => {
    const outcome = await user.parley([...line, '--debug'], options);
    printed.push(outcome.stdout, outcome.stderr);
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    return outcome.stdout;
  };

  test('logs in, deploys every example, chats, follows, traces and rolls back', async () => {
    await parley(['login', server.url], { stdin: key });
    for (const file of EXAMPLES) {
      const bot = `${basename(file, '.agent')}-bot`;
      await parley(['bots', 'create', bot]);
      const { envNames } = readDefinition(readFileSync(file, 'utf8'));
      const variables = envNames.flatMap((name) => ['--var', `${name}=${VALUES[name] ?? CANARY}`]);
      const deployed = JSON.parse(
        await parley(['deploy', file, '--bot', bot, '--yes', '--json', ...variables]),
      );
      expect(deployed).toMatchObject({ botId: bot, status: 'deployed' });
    }
    await parley(['use', 'demo-bot']);
    const following = user.terminal(['runs', '--follow']);
    await following.shows('Following.');
    expect(await parley(['chat', '--message', 'Call time.now', '-s', 'one'])).toContain('time.now');
    // A follower that is slower than the run sees its last state alone.
    await following.shows('completed');
    following.type(CTRL_C);
    expect(await following.code()).toBe(130);

    const [{ runId }] = JSON.parse(await parley(['runs', '--json']));
    expect(await parley(['trace', runId])).toMatch(/execute_tool time\.now +\S+ ms +█/);
    const [{ deploymentId: first }] = JSON.parse(await parley(['deployments', '--json']));
    await parley(['deploy', '-', '--yes', '-m', 'Second'], {
      stdin: readFileSync(EXAMPLES.find((file) => file.includes('demo')) ?? '', 'utf8').replace(
        'Be brief',
        'Be long',
      ),
    });
    expect(await parley(['rollback', first, '--yes'])).toContain(`Rolled back to ${first} as dep_`);
    const [active] = JSON.parse(await parley(['deployments', '--json']));
    expect(active).toMatchObject({ active: true, rolledBackTo: first });
  });

  test('finds no key and no value of a variable but in the file of profiles', async () => {
    const scripts = await Promise.all(
      ['bash', 'zsh', 'fish'].map((shell) => parley(['completion', shell])),
    );
    const wrong = await user.parley(['bots', '--debug'], { env: { PARLEY_API_KEY: `${key}x` } });
    printed.push(...scripts, wrong.stdout, wrong.stderr);
    expect(printed.join('')).toContain('debug: POST');
    for (const secret of [key, CANARY]) expect(printed.join('\n')).not.toContain(secret);
    const stored = await filesBelow(user.home);
    const holders = stored.filter(({ text }) => text.includes(key) || text.includes(CANARY));
    expect(holders.map(({ path }) => path)).toEqual([
      join(user.home, '.config/parley/profiles.json'),
    ]);
    expect(holders[0]?.text).not.toContain(CANARY);
    expect((await stat(holders[0]?.path ?? '')).mode & 0o777).toBe(0o600);
  });
});

async function filesBelow(directory: string): Promise<{ path: string; text: string }[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })));
}
