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
  bot = await tenant.bot('prompt "Old."');
  user = await createUser({ PARLEY_API_KEY: tenant.apiKey, PARLEY_URL: app.url });
  file = join(user.home, 'desk.agent');
  app.upstream.script(({ say, end }) => {
    say('Hello.');
    end();
  });
});

const write = (...tests: string[]) =>
  writeFile(
    file,
    `agentlang 5\nagent "Desk" {\n  description "d"\n  prompt "New."\n  ${tests.join('\n  ')}\n}\n`,
  );
const PASSES = 'test "greets" {\n    user "Hi"\n    expect reply contains "hello"\n  }';
const FAILS = 'test "says bye" {\n    user "Hi"\n    expect reply is "Bye."\n  }';

const setGate = () => user.parleyHere(['gate', 'set', '--bot', bot]);

const deploy = (...line: string[]) =>
  user.parleyHere(['deploy', file, '--bot', bot, '--yes', ...line]);

describe('parley deploy with a gate', () => {
  test('waits for the gate, prints each case, and deploys', async () => {
    await setGate();
    await write(PASSES);
    const { stdout, stderr, code } = await deploy();
    expect(stderr).toContain('✓ greets');
    expect(stdout).toMatch(/^Deployed dep_\w+ on /m);
    expect(code).toBe(0);
  });

  test('exits with 1 if the gate holds the deployment back, and says why', async () => {
    await setGate();
    await write(PASSES, FAILS);
    const { stderr, code } = await deploy();
    expect(stderr).toContain('✗ says bye');
    expect(stderr).toContain('test-failed');
    expect(stderr).toContain('desk.agent:11:5 expected reply is "Bye.". The reply was: Hello.');
    expect(stderr).toMatch(/The gate of .* held dep_\w+ back\. What ran before goes on\./);
    expect(stderr).toContain(`parley test FILE --bot ${bot} runs the tests.`);
    expect(code).toBe(1);
    const { data } = await tenant.graphql(`{ bot(id: "${bot}") { activeDeployment { source } } }`);
    expect(data.bot.activeDeployment.source).toContain('Old.');
    const json = await deploy('--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      status: 'failed',
      diagnostics: [{ code: 'test-failed' }],
    });
  });

  test('goes round the gate with a reason', async () => {
    await setGate();
    await write(FAILS);
    expect((await deploy('--skip-gate')).code).toBe(2);
    const { stdout, code } = await deploy('--skip-gate', '--message', 'An outage.');
    expect(stdout).toMatch(/^Deployed dep_\w+ on /m);
    expect(code).toBe(0);
  });

  test('promotes through the gate', async () => {
    await write(FAILS);
    expect((await deploy('--env', 'staging')).code).toBe(0);
    await setGate();
    const { stderr, code } = await user.parleyHere(['promote', '--bot', bot, '--yes']);
    expect(stderr).toContain('✗ says bye');
    expect(code).toBe(1);
  });
});

test('a newcomer sets a gate, breaks the prompt, reads why it is held back, and mends it', async () => {
  const prompt = (text: string) =>
    writeFile(
      file,
      `agentlang 5\nagent "Desk" {\n  description "d"\n  prompt "${text}"\n  test "gives the hours" {\n    user "When are you open?"\n    expect reply contains "9 to 5"\n  }\n}\n`,
    );
  app.upstream.script(({ request, say, end }) => {
    const { content } = request.body.messages[0] ?? {};
    say(content?.includes('Open from 9 to 5') ? 'From 9 to 5.' : 'I do not know.');
    end();
  });
  const parley = (...line: string[]) => user.parleyHere(line);
  const id = `${bot}-new`;
  await prompt('Be brief. Open from 9 to 5.');
  const missing = await parley('test', file, '--bot', id);
  expect(missing.stderr).toContain(`There is no bot "${id}" that the key may use.`);
  const [create = ''] =
    /parley bots create \S+/.exec((await parley('gate', '--bot', 'x')).stderr) ?? [];
  expect(create).toBe('parley bots create x');
  expect((await parley('bots', 'create', id)).code).toBe(0);
  const on = ['--bot', id];
  expect((await parley('test', file, ...on)).stdout).toContain('1 passed, 0 failed');
  expect((await parley('deploy', file, ...on, '--yes')).code).toBe(0);
  expect((await parley('gate', 'set', ...on)).stdout).toContain('all tests must pass');

  await prompt('Be kind.');
  const held = await parley('deploy', file, ...on, '--yes');
  expect(held.code).toBe(1);
  expect(held.stderr).toContain(
    `${file}:7:5 expected reply contains "9 to 5". The reply was: I do not know.`,
  );
  const [again = ''] = /parley test FILE --bot \S+/.exec(held.stderr) ?? [];
  const words = again.replace('FILE', file).split(' ').slice(1);
  expect((await parley(...words)).code).toBe(1);
  const active = `{ bot(id: "${id}") { activeDeployment { source } } }`;
  const before = await tenant.graphql(active);
  expect(before.data.bot.activeDeployment.source).toContain('Be brief.');

  await prompt('Be kind. Open from 9 to 5.');
  expect((await parley(...words)).code).toBe(0);
  const mended = await parley('deploy', file, ...on, '--yes');
  expect(mended.stdout).toMatch(/^Deployed dep_\w+ on /m);
  const after = await tenant.graphql(active);
  expect(after.data.bot.activeDeployment.source).toContain('Be kind. Open');
});

describe('parley gate', () => {
  const gate = (...line: string[]) => user.parleyHere(['gate', ...line, '--bot', bot]);

  test('shows that a bot has none, and how to set one', async () => {
    const { stdout, code } = await gate();
    expect(stdout).toBe(
      `"${bot}" has no gate. A deploy becomes active without an evaluation. Set one: parley gate set --bot ${bot}\n`,
    );
    expect(code).toBe(0);
    expect((await gate('--json')).stdout).toBe('null\n');
  });

  test('sets the whole gate, shows it and removes it', async () => {
    const { stdout, code } = await gate(
      ...['set', '--replay', '20', '--feedback', 'up', '--max-worse', '1', '--repeat', '3'],
    );
    const sentence = `Gate of ${bot} (production): all tests must pass; of the last 20 well-rated runs, at most 1 may be worse and 5 may diverge, each 3 times.\n`;
    expect(stdout).toBe(
      `${sentence}It holds from the next deploy on: parley deploy FILE --bot ${bot}\n`,
    );
    expect(code).toBe(0);
    expect((await gate()).stdout).toBe(sentence);
    await gate('set', '--no-tests', '--replay', '7');
    expect(JSON.parse((await gate('--json')).stdout)).toEqual({
      tests: false,
      replay: { last: 7, feedback: null, maxWorse: 0, maxDiverged: 5 },
      repeat: 1,
    });
    expect((await gate('remove')).stdout).toBe(`"${bot}" has no gate.\n`);
    expect((await gate()).stdout).toContain('has no gate');
  });

  test('exits with 2 for a gate that is empty or has a rule without runs', async () => {
    for (const line of [
      ['--no-tests'],
      ['--max-worse', '1'],
      ['--replay', '0'],
      ['--replay', '501'],
      ['--replay', '5', '--max-worse', '-1'],
      ['--repeat', '11'],
      ['--replay', '5', '--feedback', 'some'],
    ])
      expect((await gate('set', ...line)).code, line.join(' ')).toBe(2);
    expect((await gate('--json')).stdout).toBe('null\n');
  });

  test('needs the scope admin to change it', async () => {
    const key = await tenant.key({ scopes: ['CHAT', 'DEPLOY'] });
    const { stderr, code } = await user.parleyHere(['gate', 'set', '--bot', bot], {
      env: { PARLEY_API_KEY: key },
    });
    expect(stderr).toContain('admin');
    expect(code).toBe(1);
  });
});

describe('parley test --replay', () => {
  const parley = (...line: string[]) => user.parleyHere(['test', file, '--bot', bot, ...line]);

  test('repeats recorded runs beside the tests, and writes Markdown and JUnit XML', async () => {
    expect((await tenant.chat(bot, { message: 'Where is *it* | <now>?' })).status).toBe(200);
    app.upstream.script(({ request, response, say, end }) => {
      if (request.body.messages.at(-1)?.content !== 'Hi')
        return void response.writeHead(400).end('{"error": {"message": "refused"}}');
      say('Hello.');
      return end();
    });
    await write(PASSES);
    const files = [join(user.home, 'results.md'), join(user.home, 'results.xml')] as const;
    const { stdout, stderr, code } = await parley(
      ...['--replay', '5', '--markdown', files[0], '--junit', files[1]],
    );
    expect(stdout).toContain('✓ greets\n');
    expect(stdout).toMatch(
      /✗ Where is \*it\* \| <now>\? \(run_\w+\)\n {2}.*\n {2}worse: The new run failed/,
    );
    expect(stdout).toContain('1 passed, 1 failed\n');
    expect(stderr).toContain(`1 case of ${file} failed.`);
    expect(code).toBe(1);
    const markdown = await readFile(files[0], 'utf8');
    expect(markdown).toContain('| ❌ | Where is \\*it\\* \\| &lt;now\\>? \\(run\\_');
    expect(markdown.indexOf('❌')).toBeLessThan(markdown.indexOf('✅'));
    expect(await readFile(files[1], 'utf8')).toContain('name="Where is *it* | &lt;now&gt;? (run_');
  });

  test('passes without recorded runs, and refuses an impossible number', async () => {
    await write(PASSES);
    expect((await parley('--replay', '5')).code).toBe(0);
    for (const number of ['0', '501', 'x']) expect((await parley('--replay', number)).code).toBe(2);
    await write();
    const { stderr, code } = await parley('--replay', '5');
    expect(stderr).toContain('The definition has no tests, and no finished run matches.');
    expect(code).toBe(2);
  });
});

describe('parley test import', () => {
  const importing = async (...lines: unknown[]) => {
    const path = join(user.home, 'cases.jsonl');
    const text = lines.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    await writeFile(path, text.join('\n'));
    return user.parleyHere(['test', 'import', path]);
  };

  test('writes test blocks that pass in a definition', async () => {
    const { stdout, code } = await importing(
      { input: 'Hi "{{ x }}"\n\\', expected: 'hello', context: { plan: 'pro' } },
      {
        input: [
          { role: 'system', content: 's' },
          { role: 'user', content: 'Hi' },
        ],
        ideal: ['Hello.'],
      },
      '',
      {
        description: 'greets',
        vars: { question: 'Hi', plan: 'pro' },
        assert: [{ type: 'not-contains', value: 'bye' }],
      },
      { vars: { topic: 'Hi' } },
    );
    expect(code).toBe(0);
    expect(stdout).toContain(
      '  test "greets" {\n    context "{\\"plan\\":\\"pro\\"}"\n    user "Hi"\n    expect reply omits "bye"\n  }',
    );
    await write(stdout);
    const tested = await user.parleyHere(['test', file, '--bot', bot]);
    expect(tested.stdout).toContain('4 passed, 0 failed');
    const asked = app.upstream.requests.map(({ body }) => body.messages.at(-1)?.content);
    expect(asked).toContain('Hi "{{ x }}"\n\\');
  });

  test('writes several answers as a sentence to judge', async () => {
    const { stdout } = await importing({ input: 'Hi', ideal: ['Yes', 'Sure'] });
    expect(stdout).toContain('expect reply judged "It says one of these: Yes; Sure"');
  });

  test('names every line that is no test case, and exits with 2', async () => {
    const { stdout, stderr, code } = await importing(
      ...['{', '[]', { output: 'x' }, { input: 1 }, { input: 'a', expected: 1 }],
      { vars: { a: 'x', b: 'y' } },
      { vars: { input: 'x' }, assert: [{ type: 'javascript', value: 'true' }] },
    );
    expect(stdout).toBe('');
    for (const line of [1, 2, 3, 4, 5, 6, 7]) expect(stderr).toContain(`cases.jsonl:${line} `);
    expect(stderr).toContain('has the assertion "javascript", which no test has.');
    expect(code).toBe(2);
  });

  test('exits with 2 for a file without cases, and for one with too many', async () => {
    expect((await importing('')).code).toBe(2);
    const many = Array.from({ length: 101 }, (_, index) => ({ input: `${index}` }));
    const { stderr, code } = await importing(...many);
    expect(stderr).toContain('at most 100 tests');
    expect(code).toBe(2);
  });
});
