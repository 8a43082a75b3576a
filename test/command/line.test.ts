import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildCommand } from '../../src/command/build.ts';
import { COMMANDS } from '../../src/command/commands/commands.ts';
import { completionScript } from '../../src/command/line/completion.ts';
import { GLOBAL_OPTIONS, type Option } from '../../src/command/line/definition.ts';
import { commandHelp, overview } from '../../src/command/line/help.ts';
import { type ParsedLine, parseLine } from '../../src/command/line/parse.ts';
import { SHELLS } from '../../src/command/line/shells.ts';
import { createStyle } from '../../src/command/terminal/style.ts';
import { COMMAND } from './terminal.ts';

const parse = (line: string) => parseLine(line.split(' ').filter(Boolean), COMMANDS);
const plain = createStyle(false);

function asRun(parsed: ParsedLine) {
  if (parsed.asks !== 'run') throw new Error(`The line asks for ${parsed.asks}.`);
  return parsed;
}

describe('the bundle', () => {
  test('is current; if this fails, run: npm run command', async () => {
    const output = await mkdtemp(join(tmpdir(), 'parley-test-'));
    await buildCommand(output);
    const contents = (directory: string) =>
      Object.fromEntries(
        readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
      );
    expect(Object.keys(contents(dirname(COMMAND)))).toEqual(Object.keys(contents(output)));
    expect(contents(dirname(COMMAND))).toEqual(contents(output));
  });
});

describe('a command line', () => {
  test.each([
    ['deplyo desk.agent', 'Unknown command "deplyo". Did you mean "deploy"?'],
    ['bots craete desk', 'Unknown command "bots craete". Did you mean "bots create"?'],
    ['key', 'Unknown command "key". Did you mean "keys"?'],
    ['zzzzz', 'Unknown command "zzzzz". Run parley --help'],
    ['deploy --bott desk', 'Unknown option --bott. Did you mean "--bot"?'],
    ['runs --folow', 'Unknown option --folow. Did you mean "--follow"?'],
    ['check --yes x', 'Unknown option --yes.'],
    ['deploy -z', 'Unknown option -z.'],
    ['deploy x --env prod', '--env cannot be "prod". Did you mean "production"?'],
    ['runs --status done', '--status cannot be "done". Its values are queued, running'],
    ['completion bsh', 'SHELL cannot be "bsh". Did you mean "bash"?'],
    ['deploy', 'parley deploy needs FILE. Run parley deploy --help for examples.'],
    ['deploy a b', 'parley deploy does not take "b".'],
    ['deploy x --bot', '--bot needs a value: --bot ID.'],
    ['deploy x --bot --yes', '--bot needs a value: --bot ID. Write --bot=--yes'],
    ['deploy x --bot a --bot b', '--bot is given twice.'],
    ['deploy x --yes=no', '--yes takes no value.'],
    ['--json', 'No command is given.'],
  ])('that is wrong names the mistake and what to do: parley %s', (line, message) => {
    expect(() => parse(line)).toThrow(message);
  });

  test('names every mistake, a line for each', () => {
    expect(() => parse('deploy --env prod --yes=no --bot')).toThrow(
      new RegExp(
        [
          '^--env cannot be "prod"\\..*',
          '--yes takes no value\\.',
          '--bot needs a value: --bot ID\\.',
          'parley deploy needs FILE\\..*$',
        ].join('\n'),
      ),
    );
    // "desk" may be the value that was meant for --bott.
    expect(() => parse('deploy x --bott desk --wrong')).toThrow(
      /^Unknown option --bott\. .*\nUnknown option --wrong\. [^\n]*$/,
    );
  });

  test('takes options before and after the command, short ones, and values with a dash', () => {
    const { command, input } = asRun(
      parse('--json deploy -b desk desk.agent -y --message=-5 --var A=1 --var B'),
    );
    expect(command.name).toBe('deploy');
    expect(input.text('bot')).toBe('desk');
    expect(input.text('file')).toBe('desk.agent');
    expect(input.text('message')).toBe('-5');
    expect(input.texts('var')).toEqual(['A=1', 'B']);
    expect([input.flag('yes'), input.flag('json'), input.flag('debug')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(asRun(parse('format -')).input.texts('files')).toEqual(['-']);
    expect(asRun(parse('bots create desk')).command.name).toBe('bots create');
    expect(asRun(parse('bots')).command.name).toBe('bots');
  });

  test.each(['', '--help', 'help', '-h'])(
    'asks for the help of all commands: parley %s',
    (line) => {
      expect(parse(line)).toEqual({ asks: 'help', command: undefined });
    },
  );

  test.each(['deploy --help', 'help deploy', '-h deploy', 'deploy x y --bot b --help'])(
    'asks for the help of one command: parley %s',
    (line) => {
      expect(parse(line)).toMatchObject({ asks: 'help', command: { name: 'deploy' } });
    },
  );
});

describe('the table of commands', () => {
  test('has examples that parse, for every command', () => {
    for (const { name, examples } of COMMANDS) {
      expect(examples.length, name).toBeGreaterThan(0);
      for (const { line } of examples) {
        const [, words = ''] = /\bparley (.*?)(?= [|<>] ?|\)|$)/.exec(line) ?? [];
        const parsed = parseLine(wordsOf(words), COMMANDS);
        expect(asRun(parsed).command.name, line).toBe(name);
      }
    }
  });

  test('has options of one form for each name, because options may stand before the command', () => {
    const forms = new Map<string, Option>();
    for (const { options } of COMMANDS)
      for (const [name, option] of Object.entries<Option>({ ...options, ...GLOBAL_OPTIONS })) {
        const { value, short } = forms.get(name) ?? option;
        expect([name, option.value === undefined, option.short]).toEqual([
          name,
          value === undefined,
          short,
        ]);
        forms.set(name, option);
      }
    const letters = [...forms.values()].flatMap(({ short }) => short ?? []);
    expect(new Set(letters).size).toBe(letters.length);
  });

  test('appears whole in the help', () => {
    const all = overview(COMMANDS, plain);
    for (const command of COMMANDS) {
      expect(all).toContain(command.summary);
      const help = commandHelp(command, COMMANDS, plain);
      for (const name of Object.keys({ ...command.options, ...GLOBAL_OPTIONS }))
        expect(help).toContain(`--${name}`);
      for (const { line } of command.examples) expect(help).toContain(line);
    }
  });
});

describe('completion', () => {
  test('has every command and option for every shell', () => {
    for (const shell of SHELLS) {
      const script = completionScript(shell, COMMANDS);
      for (const { name, options } of COMMANDS) {
        expect(script).toContain(name.split(' ').at(-1));
        for (const option of Object.keys(options)) expect(script).toContain(option);
      }
    }
  });

  test.each([
    ['dep', ['deploy', 'deployments']],
    ['bots ', ['create', 'rename', 'delete']],
    ['bots create --n', ['--name']],
    ['deploy --bot demo --env ', ['production', 'staging']],
    ['deploy x --un', ['--unset']],
    ['--profile work dep', ['deploy']],
    ['-b desk deploy --un', ['--unset']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['approvals ', ['list', 'show', 'approve', 'deny']],
    ['approvals --bot desk --status ', ['waiting', 'approved', 'denied', 'expired']],
    ['runs --status ', ['queued', 'running', 'completed', 'failed', 'cancelled']],
  ])('completes in bash: parley %s', (line, expected) => {
    const words = ['parley', ...line.split(' ')];
    const script = `${completionScript('bash', COMMANDS)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const offered = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
    expect(offered).toEqual(expect.arrayContaining(expected));
    const last = words.at(-1) ?? '';
    expect(offered.filter((word) => !word.startsWith(last))).toEqual([]);
    if (words.at(-2) === '--status') expect(offered).toEqual(expected);
  });
});

/** The words of a shell line with double quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}
