import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { bundledBytes } from './bundle.ts';

const ROOT = join(import.meta.dirname, '../..');
const CLIENT = join(ROOT, 'src/client');
const run = promisify(execFile);
const inRoot = (command: string) => join(ROOT, 'node_modules/.bin', command);

let folder: string;
let tarball: string;
let app: TestApp;

/** Builds and packs a copy of the client, so that no other test sees half of a build. */
beforeAll(async () => {
  folder = join(await temporaryDirectory(), 'client');
  await mkdir(folder);
  for (const name of ['package.json', 'README.md', 'LICENSE']) {
    await cp(join(CLIENT, name), join(folder, name));
  }
  await run(inRoot('tsc'), ['-p', CLIENT, '--outDir', join(folder, 'dist')]);
  const { stdout } = await run('npm', ['pack', '--json', '--silent'], { cwd: folder });
  tarball = join(folder, JSON.parse(stdout)[0].filename);
  app = await startApp();
});

describe('the package', () => {
  test('has the built modules, their types, a readme and the licence, and no dependency', async () => {
    const { stdout } = await run('tar', ['--list', '--file', tarball]);
    const names = stdout.trim().split('\n');
    const others = names.filter((name) => !/^package\/dist\/[\w-]+(\.d\.ts|\.js)$/.test(name));
    expect(others.toSorted()).toEqual([
      'package/LICENSE',
      'package/README.md',
      'package/package.json',
    ]);
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    expect(Object.keys(manifest).filter((name) => /dependencies$/i.test(name))).toEqual([
      'peerDependencies',
    ]);
    expect(manifest.peerDependenciesMeta).toEqual({ ai: { optional: true } });
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(manifest.version).toBe(version);
  });

  test('has the same licence as the repository', async () => {
    const texts = [join(ROOT, 'LICENSE'), join(CLIENT, 'LICENSE')];
    const [own, other] = await Promise.all(texts.map((path) => readFile(path, 'utf8')));
    expect(own).toBe(other);
  });

  test('type-checks with its declaration files in a strict project', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    await run('npm', ['install', '--offline', '--silent', tarball], { cwd: directory });
    const program = `import { type ChatReply, Parley, RunError } from '@parley/client';
      const parley: Parley = new Parley({ apiKey: 'key' });
      const reply: ChatReply = await parley.chat('demo', { message: 'Hi' });
      for await (const delta of parley.chatStream('demo', { message: 'Hi' })) delta.toUpperCase();
      for await (const event of parley.runEvents('demo', reply.runId))
        if (event.type === 'text') event.delta.toUpperCase();
      const run = await parley.execute('demo', { prompt: 'Hi', background: true });
      export const id: string = new RunError({ message: '', code: '' }).runId ?? run.id;
      // @ts-expect-error: the input needs a message.
      await parley.chat('demo', {});
      // @ts-expect-error: a reply without a background run has no handle.
      (await parley.execute('demo', { prompt: 'Hi' })).cancel();`;
    await writeFile(join(directory, 'program.ts'), program);
    const options = '--strict --noEmit --module nodenext --target es2022 --lib es2022,dom --types';
    const { stdout } = await run(inRoot('tsc'), [...options.split(' '), '', 'program.ts'], {
      cwd: directory,
    }).catch((error) => error);
    expect(stdout).toBe('');
  });

  test('imports nothing but its own modules', async () => {
    const files = await readdir(join(folder, 'dist'));
    for (const file of files.filter((name) => name.endsWith('.js'))) {
      const text = await readFile(join(folder, 'dist', file), 'utf8');
      const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)];
      for (const [, specifier] of specifiers) expect(specifier).toMatch(/^\.\/[\w-]+\.js$/);
    }
  });

  test.each([
    ['everything', 6 * 1_024, "export * from './index.js';"],
    ["the AI SDK's transport", 3 * 1_024, "export * from './ai-sdk.js';"],
    [
      'a program that only chats',
      4 * 1_024,
      `import { ChatClient } from './index.js';
       const client = new ChatClient({ apiKey: 'key' });
       for await (const delta of client.chatStream('demo', { message: 'Hi' })) console.log(delta);`,
    ],
  ])(
    'is small, minified and compressed: %s takes at most %i bytes',
    async (what, limit, program) => {
      const bytes = await bundledBytes(program, join(folder, 'dist'));
      console.log(`The client for ${what}: ${bytes} bytes, minified and gzipped.`);
      expect(bytes).toBeLessThan(limit);
    },
  );
});

/** Runs in an empty folder with the installed package. It prints `done` at its end. */
const PROGRAM = `import assert from 'node:assert/strict';
import { DeployError, Parley } from '@parley/client';

const { PARLEY_API_KEY: apiKey, PARLEY_URL: baseUrl, PARLEY_BOT: bot } = process.env;
const parley = new Parley({ apiKey, baseUrl });
const source = 'agentlang 5\\nagent "A" {\\n  description "A"\\n  prompt "A"\\n}\\n';
const { status, deploymentId } = await parley.deploy(bot, { source });
assert.equal(status, 'deployed');
await assert.rejects(parley.deploy(bot, { source: 'nonsense' }), DeployError);
const reply = await parley.chat(bot, { message: 'Hi', sessionId: 'Zoë' });
assert.deepEqual([reply.response, reply.sessionId], ['Hello there.', 'Zoë']);
let text = '';
const stream = parley.chatStream(bot, { message: 'Hi' });
for await (const delta of stream) text += delta;
assert.equal(text, (await stream.finalReply()).response);
for await (const delta of parley.chatStream(bot, { message: 'Hi' })) break;
const run = await parley.execute(bot, { prompt: 'Hi', background: true });
assert.equal((await run.result()).response, 'Hello there.');
const inputs = [];
for await (const { input } of parley.runs(bot, { limit: 2 })) inputs.push(input);
assert.equal(inputs.length, 4);
assert.equal((await parley.rollback(bot, deploymentId)).rolledBackTo, deploymentId);
console.log('done');
`;

/** The paths of all `node` commands in PATH. */
const commands = (process.env.PATH ?? '').split(delimiter).map((path) => join(path, 'node'));

/** A Node.js of a major version: the running one, one in PATH, or one from the registry. */
async function findNode(major: number): Promise<string | undefined> {
  for (const command of [process.execPath, ...commands]) {
    const { stdout } = await run(command, ['--version']).catch(() => ({ stdout: '' }));
    if (stdout.startsWith(`v${major}.`)) return command;
  }
  const directory = await temporaryDirectory();
  const options = { cwd: directory, timeout: 120_000 };
  await run('npm', ['install', '--silent', `node@${major}`], options).catch(() => undefined);
  const command = join(directory, 'node_modules/.bin/node');
  const isInstalled = await run(command, ['--version']).catch(() => undefined);
  return isInstalled && command;
}

describe('the tarball in an empty folder', () => {
  test.for([20, 24])('works on Node.js %i', async (major, { skip }) => {
    const node = await findNode(major);
    if (!node) return skip(`There is no Node.js ${major}, and the registry cannot be reached.`);
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    await writeFile(join(directory, 'program.js'), PROGRAM);
    await run('npm', ['install', '--offline', '--silent', tarball], { cwd: directory });
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const { stdout } = await run(node, ['program.js'], {
      cwd: directory,
      env: {
        ...process.env,
        PARLEY_API_KEY: tenant.apiKey,
        PARLEY_URL: app.url,
        PARLEY_BOT: bot,
      },
    });
    expect(stdout).toBe('done\n');
  });
});
