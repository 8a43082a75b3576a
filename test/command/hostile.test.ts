import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/command/commands/commands.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { rounds } from '../helpers/rounds.ts';
import { HIDDEN, HOSTILE, startHostileServer } from './hostile-text.ts';
import { CTRL_C, CTRL_D, createUser, ENTER, type Outcome, type User } from './terminal.ts';

let app: TestApp;
let tenant: Tenant;
let server: Awaited<ReturnType<typeof startHostileServer>>;
let user: User;
let bot: string;
let deployments: string[];
let run: string;
/** A run with a tool call that waits for approval. */
let asking: { bot: string; run: string; call: string };

beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  server = await startHostileServer(app.url);
  atTheEnd(server.close);
  user = await createUser({ PARLEY_API_KEY: tenant.apiKey, PARLEY_URL: server.origin });
  asking = await ask();
  // A piece for each character, so that every sequence arrives in pieces.
  app.upstream.script(({ say, end }) => {
    for (const character of `Hello ${HOSTILE} there.`) say(character);
    end();
  });
  bot = await tenant.bot();
  await tenant.graphql(
    'mutation ($id: ID!, $name: String!) { updateBot(id: $id, input: { name: $name }) { id } }',
    {
      id: bot,
      name: 'Desk',
    },
  );
  const deploy = async (environment: string, message: string) => {
    const source = agent('prompt "Earlier."');
    const { data } = await tenant.graphql(
      'mutation ($bot: ID!, $input: DeployInput!) { deploy(botId: $bot, input: $input) { id } }',
      { bot, input: { source, environment, message } },
    );
    return data.deploy.id;
  };
  deployments = [await deploy('PRODUCTION', 'One'), await deploy('STAGING', 'Two')];
  const chat = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 'user-1' });
  run = ((await chat.json()) as { run_id: string }).run_id;
  moveTo(user.home);
  await writeFile(join(user.home, 'good.agent'), agent('prompt "New."'));
  await writeFile(
    join(user.home, 'cases.jsonl'),
    JSON.stringify({ name: HOSTILE, input: HOSTILE, expected: HOSTILE, context: { a: HOSTILE } }),
  );
  await writeFile(
    join(user.home, 'tested.agent'),
    agent('prompt "New." test "greets" { user "Hi" expect reply contains "Hello" }'),
  );
  await writeFile(join(user.home, 'bad.agent'), agent(`welcom "${HOSTILE}"`));
});

/** Lets a model ask for approval of a call. */
async function ask() {
  const owner = await tenant.bot(`tools orders {
    capability refund "Refunds an order." {
      input { order_id string }
      approval
      post "https://api.example/refunds"
    }
  }`);
  app.upstream.script(({ request, call, say, end }) => {
    if (request.body.messages.at(-1)?.role === 'user')
      return call(['orders_refund', { order_id: 'A-1' }]);
    say('Asked.');
    return end();
  });
  const chat = await tenant.chat(owner, { message: 'Hi' });
  const { run_id } = (await chat.json()) as { run_id: string };
  const { id } = await app.prisma.approval.findFirstOrThrow({ where: { runId: run_id } });
  return { bot: owner, run: run_id, call: id };
}

/** Changes the directory of this process until the end of the test, or of the file. */
function moveTo(directory: string) {
  const before = process.cwd();
  process.chdir(directory);
  atTheEnd(() => process.chdir(before));
}

/** These print nothing that a server sends; they start a local server, or print only text of the command. */
const LOCAL = [
  'start',
  'dev',
  'doctor',
  'key reset-operator',
  'account export',
  'account import',
  'stats rebuild',
  'completion',
];

/** These run in a process of their own: they start further processes, or read the templates of the bundle. */
const BUNDLED = [...LOCAL, 'init'];

/** Runs a command in the current directory. */
const runHere = (line: string[], stdin: string) =>
  BUNDLED.some((name) => line.join(' ').startsWith(name))
    ? user.parley(line, { stdin, cwd: process.cwd() })
    : user.parleyHere(line, { stdin });

const shown = ({ stdout, stderr }: Outcome) => stdout + stderr;

/** Lines that reach what each command prints. Placeholders name what the server has. */
const linesOf = (): Record<string, string[][]> => ({
  login: [['login', server.origin, '--profile', 'other']],
  logout: [['logout', '--profile', 'other']],
  use: [['use', bot, '--profile', 'other'], ['use']],
  whoami: [['whoami'], ['whoami', '--debug']],
  open: [['open']],
  bots: [['bots']],
  'bots create': [['bots', 'create', `desk-${Math.random().toString(36).slice(2)}`]],
  'bots rename': [['bots', 'rename', bot, 'Desk']],
  'bots delete': [['bots', 'delete', 'bot-without-name', '--yes']],
  keys: [['keys']],
  'keys create': [['keys', 'create', 'ci']],
  'keys revoke': [['keys', 'revoke', 'key_unknown', '--yes']],
  check: [['check', 'bad.agent', '-']],
  format: [['format', '--check', 'bad.agent']],
  init: [['init', 'new']],
  chat: [
    ['chat', bot, '-m', 'Hi'],
    ['chat', bot, '-m', 'Hi', '--no-stream'],
  ],
  execute: [
    ['execute', bot, '--prompt', 'Hi'],
    ['execute', bot, '--prompt', 'Hi', '--no-stream'],
    ['execute', bot, '--prompt', 'Hi', '--background'],
  ],
  runs: [['runs', '--bot', bot]],
  run: [
    ['run', run],
    ['run', asking.run],
  ],
  trace: [
    ['trace', run],
    ['trace', asking.run],
  ],
  approvals: [['approvals', '--bot', asking.bot, '--all']],
  'approvals list': [['approvals', 'list', '--bot', asking.bot]],
  'approvals show': [['approvals', 'show', asking.call]],
  'approvals approve': [['approvals', 'approve', 'tcl_unknown']],
  'approvals deny': [['approvals', 'deny', asking.call]],
  cancel: [['cancel', run]],
  deploy: [
    ['deploy', 'good.agent', '--bot', bot, '--yes'],
    ['deploy', 'bad.agent', '--bot', bot, '--yes'],
  ],
  test: [['test', 'tested.agent', '--bot', bot]],
  'test import': [
    ['test', 'import', 'tested.agent'],
    ['test', 'import', 'cases.jsonl'],
  ],
  deployments: [['deployments', '--bot', bot]],
  rollback: [['rollback', deployments[0] ?? '', '--bot', bot, '--yes']],
  gate: [['gate', '--bot', bot]],
  'gate set': [['gate', 'set', '--bot', bot]],
  'gate remove': [['gate', 'remove', '--bot', bot]],
  promote: [['promote', deployments[1] ?? '', '--bot', bot, '--yes']],
});

async function runAll(formats: readonly string[][] = [[]]): Promise<string> {
  const outcomes = Object.values(linesOf())
    .flat()
    .flatMap((line) => formats.map((format) => [...line, ...format]))
    .map(async (line) => {
      const stdin = line[0] === 'login' ? tenant.apiKey : `agentlang 5 ${HOSTILE}`;
      const output = shown(await runHere(line, stdin));
      expect(output, line.join(' ')).not.toMatch(HIDDEN);
      expect(output, line.join(' ')).not.toContain('defect');
      return output;
    });
  return (await Promise.all(outcomes)).join('');
}

describe('a hostile server', () => {
  test('is tried with every command', () => {
    const names = COMMANDS.map(({ name }) => name).filter((name) => !LOCAL.includes(name));
    expect(Object.keys(linesOf()).sort()).toEqual(names.sort());
  });

  test('sends no hidden character to the terminal in the texts of its answers', async () => {
    server.spoil('texts');
    const output = await runAll([[], ['--json']]);
    for (const shown of ['^[]0;title^G', '<U+202E>', '\\u202e']) expect(output).toContain(shown);
  });

  test('sends none in its ids and states', async () => {
    server.spoil('every string');
    expect(await runAll()).toContain('^[]0;title^G');
  });

  const refusals: [status: number, code: string][] = [
    [500, `unknown${HOSTILE}`],
    [400, 'invalid_request'],
    [404, 'bot_not_found'],
    [429, 'rate_limit_exceeded'],
    [403, 'insufficient_scope'],
    [500, 'model_error'],
  ];
  test.each(refusals.slice(0, rounds(2, refusals.length)))(
    'sends none in an error of status %i',
    async (status, code) => {
      server.refuse(status, code);
      expect(await runAll()).toContain('^[]0;title^G');
    },
  );

  test('sends none to a person in a conversation or a prompt', async () => {
    server.spoil('texts');
    const talk = user.terminal(['chat', bot]);
    await talk.shows('> ');
    talk.type(`Hi${ENTER}`);
    await talk.shows('^[]0;title^G');
    await talk.shows('> ');
    talk.type(CTRL_D);
    expect(await talk.code()).toBe(0);
    const choice = user.terminal(['rollback', '--bot', bot]);
    await choice.shows('Roll back to which deployment?');
    await choice.shows('<U+202E>');
    choice.type(CTRL_C);
    expect(await choice.code()).toBe(130);
    const difference = user.terminal(['deploy', 'good.agent', '--bot', bot]);
    await difference.shows('<U+202E>');
    await difference.shows('Deploy good.agent');
    difference.type(CTRL_C);
    expect(await difference.code()).toBe(130);
    for (const { raw } of [talk, choice, difference]) {
      // Prompts move the cursor and set styles by sequences that end in a letter. No other character is hidden.
      const own = /\p{Cc}\[[?\d;]*[A-HJKhlm]|\r/gu;
      expect(raw().replaceAll(own, '')).not.toMatch(HIDDEN);
      expect(raw()).not.toContain('\x1b[95;7m');
    }
  });
});

describe('the words of a command line', () => {
  test('are echoed without hidden characters, for every argument and option', async () => {
    server.spoil('every string');
    const directory = join(user.home, `of ${HOSTILE}`);
    await mkdir(directory, { recursive: true });
    moveTo(directory);
    const lines = COMMANDS.filter(({ name }) => !['start', 'dev'].includes(name)).flatMap(
      ({ name, arguments: all, options }) => {
        const words = [...name.split(' '), ...Object.values(all).map(() => `x${HOSTILE}`)];
        const withValue = Object.entries(options).filter(([, { value }]) => value !== undefined);
        const given = (pairs: typeof withValue) => pairs.map(([key]) => `--${key}=y${HOSTILE}`);
        return [
          [...words, ...given(withValue)],
          [...words, ...given(withValue.filter(([, { choices }]) => !choices)), '--yes'],
          [...words, `--unknown${HOSTILE}`, `--yes=${HOSTILE}`, `--profile=${HOSTILE}`],
        ];
      },
    );
    lines.push([`unknown${HOSTILE}`], ['bots', `craete${HOSTILE}`], ['help', `unknown${HOSTILE}`]);
    const outputs = await Promise.all(
      lines.map(async (line) => {
        const output = shown(await runHere(line, 'x'));
        expect(output, JSON.stringify(line)).not.toMatch(HIDDEN);
        return output;
      }),
    );
    expect(outputs.join('')).toContain('^[]0;title^G');
  });

  test('are echoed so from the environment too', async () => {
    for (const [name, line] of [
      ['PARLEY_URL', ['whoami']],
      ['PARLEY_PROFILE', ['use', 'x']],
      ['PARLEY_API_KEY', ['whoami']],
      ['HOME', ['use']],
    ] as const) {
      const output = shown(
        await user.parley([...line], { env: { [name]: `/x${HOSTILE}` }, cwd: '/' }),
      );
      expect(output, name).not.toMatch(HIDDEN);
    }
  });
});
