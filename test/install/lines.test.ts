import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync } from 'node:fs';
import { appendFile, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../helpers/app.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { type ServerProcess, startServer } from '../helpers/server.ts';
import { copyClone, ownEnvironment, ROOT, runLine } from './commands.ts';
import { documentedLines } from './documented-lines.ts';

/** An installation of all packages, and the build. */
const INSTALL_MS = 1_500_000;
const LINE_MS = 900_000;

/** `.ci/run` runs these in a clean clone, with one installation for all of them. */
const BY_CI = ['npm ci && npm start', 'npm ci && npm test', 'npm start', 'npm test'];

let clone: string;
let server: ServerProcess;
/** Each line, once it has succeeded. */
const succeeded: string[] = [];

beforeAll(async () => {
  clone = join(await temporaryDirectory(), 'clone');
  await copyClone(clone);
  server = await startServer();
}, INSTALL_MS);

afterAll(() => server.stop('SIGTERM').then(() => {}));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Runs a line of the documents, with the addresses and paths of this test. */
async function follow(line: string, cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const here = line
    .replaceAll('/path/to/clone', clone)
    .replaceAll('http://127.0.0.1:4000', server.url);
  const output = await runLine(here, { cwd, env: { npm_config_yes: 'true', ...env } });
  succeeded.push(line);
  return output;
}

const linesOf = (page: string) =>
  documentedLines().flatMap((one) => (one.page === page ? one.line : []));

describe('the documented lines of npm and npx', () => {
  test(
    'build the command in a clone, and put it on the path',
    async () => {
      const npm_config_prefix = await temporaryDirectory();
      await follow('npm ci && npm link', clone, { npm_config_prefix });
      const parley = join(npm_config_prefix, 'bin/parley');
      expect(await runLine(`${parley} --version`, { cwd: '/' })).toMatch(/^parley \d/);
    },
    INSTALL_MS,
  );

  test(
    'build nothing again while the sources are the same',
    async () => {
      const built = async () => (await stat(join(clone, 'src/generated/build.json'))).mtimeMs;
      const before = await built();
      expect(await runLine('npx parley --version', { cwd: clone })).toMatch(/^parley \d/);
      await runLine('npm run --silent build', { cwd: clone });
      expect(await built()).toBe(before);
    },
    LINE_MS,
  );

  test(
    'leave the earlier build whole when a build is stopped',
    async () => {
      const stamp = join(clone, 'src/generated/build.json');
      const before = await readFile(stamp, 'utf8');
      await appendFile(join(clone, 'CHANGELOG.md'), '\n');
      const build = spawn('npm', ['run', '--silent', 'build'], {
        cwd: clone,
        env: ownEnvironment(),
        stdio: 'ignore',
        detached: true,
      });
      const stopped = once(build, 'close');
      // The first target has written something.
      await expect
        .poll(() => globSync('.build/*/src/generated/*', { cwd: clone }), { timeout: LINE_MS })
        .not.toEqual([]);
      process.kill(-(build.pid ?? 0), 'SIGKILL');
      await stopped;
      // The folder has the name of the process. A killed process exists until the system has collected it.
      const pids = readdirSync(join(clone, '.build')).map(Number);
      await expect.poll(() => pids.filter(isRunning), { timeout: LINE_MS }).toEqual([]);
      expect(await readFile(stamp, 'utf8')).toBe(before);
      const command = 'node src/generated/command/parley.mjs --version';
      expect(await runLine(command, { cwd: clone })).toMatch(/^parley \d/);
      await runLine('npm run --silent build', { cwd: clone });
      expect(await readFile(stamp, 'utf8')).not.toBe(before);
      expect(globSync('.build/*', { cwd: clone })).toEqual([]);
    },
    LINE_MS,
  );

  test(
    'install the command from a clone for all folders',
    async () => {
      const npm_config_prefix = await temporaryDirectory();
      await follow('npm install --global /path/to/clone', await temporaryDirectory(), {
        npm_config_prefix,
      });
      const parley = join(npm_config_prefix, 'bin/parley');
      expect(await runLine(`${parley} --version`, { cwd: '/' })).toMatch(/^parley \d/);
    },
    LINE_MS,
  );

  test(
    'check, deploy and promote from the repository of definitions, as in the workflow',
    async () => {
      const project = await temporaryDirectory();
      for (const line of ['npm pack /path/to/clone', 'npm install --save-dev ./parley-0.2.0.tgz'])
        await follow(line, project);
      expect(await follow('npx --no -- parley --help', project)).toContain('parley COMMAND');
      await mkdir(join(project, 'bots'));
      const uses =
        'tools orders mcp "http://127.0.0.1:1" { header "X-Key" "{{ env.ORDERS_KEY }}" }';
      await writeFile(join(project, 'bots/desk.agent'), agent(uses));
      const env = {
        PARLEY_URL: server.url,
        PARLEY_API_KEY: server.operatorKey(),
        GITHUB_SHA: 'abc',
        ORDERS_KEY: 'secret-of-acme',
      };
      const parley = (words: string) =>
        runLine(`npx --no -- parley ${words}`, { cwd: project, env });
      await parley('format bots/desk.agent');
      await parley('bots create desk');
      await parley('deploy bots/desk.agent --bot desk --var ORDERS_KEY --yes');
      const workflow = linesOf('docs/command.md').filter(
        (line) => line === 'npm ci' || /^npx --no -- parley (?!--help)/.test(line),
      );
      expect(workflow.filter((line) => line.startsWith('npx'))).toHaveLength(4);
      for (const line of workflow) await follow(line, project, env);

      await writeFile(
        join(project, 'desk.agent'),
        agent('test "greets" { user "Hi"  expect no call }'),
      );
      const tests = linesOf('docs/test-an-agent.md').filter((line) => line.startsWith('npx '));
      expect(tests.length).toBeGreaterThan(0);
      for (const line of tests) expect(await follow(line, project, env)).toContain('1 passed');
      expect(await readFile(join(project, 'results.xml'), 'utf8')).toContain('greets');
      expect(await readFile(join(project, 'results.md'), 'utf8')).toContain('1 passed');
    },
    LINE_MS,
  );

  test(
    'list the bots as MCP tools in the inspector',
    async () => {
      const project = await temporaryDirectory();
      const page = await readFile(join(ROOT, 'docs/mcp-server.md'), 'utf8');
      const [, config = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
      const own = config
        .replace('http://127.0.0.1:4000', server.url)
        .replace('YOUR_API_KEY', server.operatorKey());
      await writeFile(join(project, 'mcp.json'), own);
      // The inspector needs a newer Node than a fresh machine may have.
      const PATH = `${join(clone, 'node_modules/node/bin')}:${process.env.PATH}`;
      for (const line of linesOf('docs/mcp-server.md'))
        expect(await follow(line, project, { PATH })).toContain('"name": "demo"');
    },
    LINE_MS,
  );

  test(
    'install the client, and generate others',
    async () => {
      const project = await temporaryDirectory();
      await follow('npm pack --workspace @parley/client', clone);
      await cp(join(clone, 'parley-client-0.2.0.tgz'), join(project, 'parley-client-0.2.0.tgz'));
      await follow('npm install ./parley-client-0.2.0.tgz', project);
      const program = "import { Parley } from '@parley/client'; console.log(typeof Parley);";
      await writeFile(join(project, 'program.mjs'), program);
      expect(await runLine('node program.mjs', { cwd: project })).toBe('function\n');
      for (const line of linesOf('docs/rest.md')) await follow(line, project);
      expect(await readFile(join(project, 'parley.ts'), 'utf8')).toContain('chat');
    },
    LINE_MS,
  );

  test(
    'run tests in a clone',
    async () => {
      const own = linesOf('docs/contributing.md').filter((line) => line.startsWith('npx '));
      for (const line of own) expect(await follow(line, clone)).toMatch(/Tests .*passed/);
    },
    LINE_MS,
  );

  test('are all run by these tests or by CI', () => {
    const lines = documentedLines().map(({ line }) => line);
    expect(lines.length).toBeGreaterThan(15);
    expect(lines.filter((line) => ![...succeeded, ...BY_CI].includes(line))).toEqual([]);
  });
});
