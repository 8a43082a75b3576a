import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { TEMPLATE_NAMES } from '../../src/command/definitions/template-names.ts';
import { formatSource } from '../../src/language/format.ts';
import { CTRL_C, createUser, ENTER, type User } from './terminal.ts';

const GOOD = 'agentlang 5\n\nagent "A" {\n  description "A test."\n  prompt "You are a test."\n}\n';
const BAD = GOOD.replace('  prompt', '\tmodel "m" { temprature 0.2 }\n  chanel web\n  prompt');

let user: User;
beforeAll(async () => {
  user = await createUser();
  await writeFile(join(user.home, 'good.agent'), GOOD);
  await writeFile(join(user.home, 'bad.agent'), BAD);
  await writeFile(join(user.home, 'loose.agent'), GOOD.replace('  prompt', '     prompt'));
  await writeFile(join(user.home, 'latin.agent'), Buffer.from('agentlang 5 \xe9', 'latin1'));
  await mkdir(join(user.home, 'bots'));
});

describe('parley check', () => {
  test('accepts a good definition, from a file and from stdin', async () => {
    expect(await user.parley(['check', 'good.agent'])).toEqual({
      code: 0,
      stdout: 'good.agent is valid.\n',
      stderr: '',
    });
    const piped = await user.parley(['check', '-', '--json'], { stdin: GOOD });
    expect(JSON.parse(piped.stdout)).toEqual([{ file: '<stdin>', valid: true, diagnostics: [] }]);
  });

  test('prints every mistake with carets below its place, on stdout, and exits with 1', async () => {
    const { code, stdout, stderr } = await user.parley(['check', 'good.agent', 'bad.agent']);
    expect(code).toBe(1);
    expect(stdout).toBe(
      [
        'bad.agent:5:14 error unknown setting "temprature", did you mean "temperature"? [unknown-setting]',
        '    5 |   model "m" { temprature 0.2 }',
        '      |               ^^^^^^^^^^',
        '',
        'bad.agent:6:3 error unknown setting "chanel", did you mean "channel"? [unknown-setting]',
        '    6 |   chanel web',
        '      |   ^^^^^^',
        '',
      ].join('\n'),
    );
    expect(stderr).toBe('Error: 2 mistakes in bad.agent.\n');
  });

  test('prints them as JSON', async () => {
    const { code, stdout } = await user.parley(['check', 'bad.agent', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        file: 'bad.agent',
        valid: false,
        diagnostics: [
          { line: 5, column: 14, code: 'unknown-setting' },
          { line: 6, column: 3 },
        ],
      },
    ]);
  });

  test('names every file that cannot be read, each with its remedy in one line', async () => {
    const { code, stdout, stderr } = await user.parley([
      'check',
      'god.agent',
      'bots',
      'latin.agent',
      'good.agent/x',
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      'Error: god.agent does not exist. Did you mean good.agent?',
      'Error: bots is a directory. Name a file in it, such as bots/bot.agent.',
      'Error: latin.agent is not UTF-8 text. Save it with the encoding UTF-8.',
      'Error: good.agent/x does not exist. Check the path.',
    ]);
  });

  test('has colours only in a terminal, and not with NO_COLOR', async () => {
    const coloured = user.terminal(['check', 'bad.agent']);
    expect(await coloured.code()).toBe(1);
    expect(coloured.raw()).toContain('\x1b[31m');
    const plain = user.terminal(['check', 'bad.agent'], { env: { NO_COLOR: '1' } });
    expect(await plain.code()).toBe(1);
    expect(plain.raw()).not.toContain('\x1b[');
    expect(plain.screen()).toContain('^^^^^^^^^^');
  });
});

describe('parley format', () => {
  test('formats in place, stdin to stdout, and only reports with --check', async () => {
    const reported = await user.parley(['format', '--check', 'loose.agent', 'good.agent']);
    expect(reported).toEqual({
      code: 1,
      stdout: 'loose.agent is not formatted.\ngood.agent is formatted.\n',
      stderr: 'Error: Run parley format loose.agent to format.\n',
    });
    expect((await user.parley(['format', 'loose.agent'])).stdout).toBe(
      'loose.agent was formatted.\n',
    );
    const formatted = await readFile(join(user.home, 'loose.agent'), 'utf8');
    expect(formatted).toBe(formatSource(GOOD));
    const piped = await user.parley(['format', '-'], { stdin: `  \n${GOOD}` });
    expect(piped).toEqual({ code: 0, stdout: formatSource(GOOD), stderr: '' });
  });

  test('leaves a file with invalid syntax as it is, and shows the mistake', async () => {
    const { code, stdout, stderr } = await user.parley(['format', '-'], { stdin: 'agent "A" {' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('    1 | agent "A" {\n');
    expect(stderr).toContain('Error: <stdin> is not formatted, because its syntax has mistakes.');
  });
});

describe('parley init', () => {
  test.each(TEMPLATE_NAMES)(
    'writes the template %s, which is valid and names its variables',
    async (name) => {
      const directory = `new-${name}`;
      const written = await user.parley(['init', directory, '--template', name]);
      expect(written).toMatchObject({ code: 0, stderr: '' });
      const path = `${directory}/${name}.agent`;
      expect((await user.parley(['check', path])).code).toBe(0);
      const variables = await readFile(join(user.home, directory, '.env.example'), 'utf8');
      expect(variables).toMatch(/^[A-Z_]+=$/m);
      expect(await readFile(join(user.home, path), 'utf8')).toContain(`# Check this file: `);

      const again = await user.parley(['init', directory, '--template', name]);
      expect(again).toEqual({
        code: 1,
        stdout: '',
        stderr: `Error: ${path} exists. Remove it, or name another directory: parley init DIR.\n`,
      });
    },
  );

  test('asks for the template in a terminal, and writes nothing if it is cancelled', async () => {
    const cancelled = user.terminal(['init', 'cancelled']);
    await cancelled.shows('Which template?');
    cancelled.type(CTRL_C);
    expect(await cancelled.code()).toBe(130);
    await expect(access(join(user.home, 'cancelled'))).rejects.toThrow('ENOENT');

    const asked = user.terminal(['init', 'asked']);
    await asked.shows('Which template?');
    await asked.shows('translator');
    asked.type('j');
    asked.type(ENTER);
    expect(await asked.code()).toBe(0);
    expect((await readdir(join(user.home, 'asked'))).sort()).toEqual([
      '.env.example',
      'order-desk.agent',
    ]);
  });
});

describe('any command', () => {
  test.each([
    [['--help'], 0, /^Parley hosts/],
    [[], 0, /^Parley hosts/],
    [['deploy', '--help'], 0, /^Deploy a definition to a bot\.\n[\s\S]*Examples/],
    [['--version'], 0, /^parley \d+\.\d+\.\d+\n$/],
    [['completion', 'zsh'], 0, /^#compdef parley\n/],
  ])('prints its result on stdout alone: parley %s', async (line, code, output) => {
    const outcome = await user.parley(line);
    expect(outcome).toMatchObject({ code, stderr: '' });
    expect(outcome.stdout).toMatch(output);
  });

  test('exits with 2 for a wrong command line, in one line on stderr', async () => {
    expect(await user.parley(['deplyo'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'Error: Unknown command "deplyo". Did you mean "deploy"? Run parley --help for the list of commands.\n',
    });
  });

  test('ends quietly when the reader of a pipe has read enough', async () => {
    const script = 'set -o pipefail; parley completion fish | head -1; echo $?';
    const { stdout, stderr } = await user.shell(script);
    expect(stdout).toBe(
      '# Completion of parley for fish. Write it to ~/.config/fish/completions/parley.fish\n0\n',
    );
    expect(stderr).toBe('');
  });

  test('names a full disk, and exits with 1', async () => {
    const { stdout, stderr } = await user.shell('parley --help > /dev/full; echo $?');
    expect(stdout).toBe('1\n');
    expect(stderr).toBe('Error: The output cannot be written: the disk is full.\n');
  });
});
