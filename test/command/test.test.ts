import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { createUser, type User } from './terminal.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
let user: User;
let file: string;

beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  tenant = await app.tenant();
  bot = await tenant.bot('');
  user = await createUser({ PARLEY_API_KEY: tenant.apiKey, PARLEY_URL: app.url });
  file = join(user.home, 'desk.agent');
  app.upstream.script(({ say, end }) => {
    say('Hello <there>.');
    end();
  });
});

const PASSES = 'test "greets" {\n    user "Hi"\n    expect reply contains "hello"\n  }';
const FAILS = 'test "says \\"bye\\"" {\n    user "Hi"\n    expect reply is "Bye."\n  }';

const write = (...tests: string[]) =>
  writeFile(
    file,
    `agentlang 5\nagent "Desk" {\n  description "d"\n  prompt "p"\n  ${tests.join('\n  ')}\n}\n`,
  );

const parley = (...line: string[]) => user.parleyHere(['test', file, '--bot', bot, ...line]);

describe('parley test', () => {
  test('prints each test as it ends, and exits with 0 if none failed', async () => {
    await write(PASSES);
    const { stdout, code } = await parley();
    expect(stdout).toBe('✓ greets\n1 passed, 0 failed\n');
    expect(code).toBe(0);
  });

  test('exits with 1 if a test failed, and shows the place and what was there', async () => {
    await write(PASSES, FAILS);
    const { stdout, stderr, code } = await parley('--repeat', '2');
    expect(stdout).toContain('✓ greets (2 of 2)\n');
    expect(stdout).toContain(
      `✗ says "bye" (0 of 2)\n  ${file}:11:5 expected reply is "Bye.". The reply was: Hello <there>.\n`,
    );
    expect(stdout).toContain('1 passed, 1 failed\n');
    expect(stderr).toContain(`1 test of ${file} failed.`);
    expect(code).toBe(1);
  });

  test('prints one JSON value, and writes JUnit XML with escaped texts', async () => {
    await write(PASSES, FAILS);
    const { stdout, code } = await parley('--json', '--junit', join(user.home, 'results.xml'));
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'FAILED', passed: 1, failed: 1 });
    expect(code).toBe(1);
    const xml = await readFile(join(user.home, 'results.xml'), 'utf8');
    expect(xml).toContain(`<testsuite name="${file}" tests="2" failures="1" skipped="0">`);
    expect(xml).toContain('name="says &quot;bye&quot;"');
    expect(xml).toContain('The reply was: Hello &lt;there&gt;.');
  });

  test('judges with the model of --judge-model', async () => {
    app.upstream.script(({ request, say, end }) => {
      say(request.body.model === 'strict' ? '{"reason": "No.", "holds": false}' : 'Hello.');
      end();
    });
    await write('test "greets" {\n    user "Hi"\n    expect reply judged "It greets."\n  }');
    const { stdout, code } = await parley('--judge-model', 'strict', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ failed: 1, skipped: 0 });
    expect(code).toBe(1);
  });

  test.each([
    [
      'a definition with mistakes',
      () => write('test "a" {\n  }'),
      /missing-turn[\s\S]*No test was run\./,
    ],
    ['no tests', () => write(), /The definition has no tests\./],
    [
      'a model server that is away',
      async () => {
        app.upstream.script(({ response }) => void response.writeHead(401).end('{}'));
        await write(PASSES);
      },
      /model/i,
    ],
  ])('exits with 2 for %s', async (_what, prepare, message) => {
    await prepare();
    const { stderr, code } = await parley();
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });

  test('exits with 2 without a server, and for a repeat that is impossible', async () => {
    await write(PASSES);
    const away = await createUser({
      PARLEY_API_KEY: tenant.apiKey,
      PARLEY_URL: 'http://127.0.0.1:9',
    });
    expect((await away.parleyHere(['test', file, '--bot', bot])).code).toBe(2);
    expect((await parley('--repeat', '11')).code).toBe(2);
  });
});
