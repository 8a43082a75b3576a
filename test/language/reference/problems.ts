import { expect } from 'vitest';
import { readDefinition } from '../../../src/language/read.ts';
import {
  agentWith,
  agentWithCapability,
  agentWithPrompt,
  codesOf,
  inModel,
  many,
  problemsOf,
} from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const PROBLEMS: Sentences = {
  'Every problem has one line, `LINE:COLUMN message [code]`, both numbers from 1 and the column in UTF-16 code units.':
    () => {
      expect(problemsOf(agentWith('  history none # 😀\n\tmodel "😀" 1'))).toEqual([
        '6:13 expected a setting or "}", found "1" [syntax]',
      ]);
    },
  'A problem also has an end, the place after its last character, and a problem of missing text ends where it begins.':
    () => {
      const rangesOf = (source: string) =>
        readDefinition(source).diagnostics.map(({ line, column, endLine, endColumn }) => [
          [line, column],
          [endLine, endColumn],
        ]);
      expect(rangesOf(agentWith('  histroy none'))).toEqual([
        [
          [5, 3],
          [5, 10],
        ],
      ]);
      expect(rangesOf(agentWith('  history last'))).toEqual([
        [
          [5, 15],
          [5, 15],
        ],
      ]);
      expect(rangesOf(agentWithPrompt('"""\n  \n"""'))).toEqual([
        [
          [4, 10],
          [6, 4],
        ],
      ]);
      expect(rangesOf(agentWithPrompt('"{{ memory.nmae }}"'))).toEqual([
        [
          [4, 14],
          [4, 25],
        ],
      ]);
    },
  'Problems are listed in the order of the source, and a mistake is listed once, without its consequences.':
    () => {
      const source = agentWithPrompt(
        '"{{ memory.nmae }}"',
        '  memory {\n    name\n  history none\n',
      );
      expect(codesOf(source)).toEqual(['unknown-fact', 'unclosed-block']);
      expect(codesOf(source.replace('nmae', 'name'))).toEqual(['unclosed-block']);
      expect(
        problemsOf(agentWith('  model "m" { temperature 3 }\n  tols time')).map((line) =>
          line.slice(0, 4),
        ),
      ).toEqual(['5:27', '6:3 ']);
    },
  'Two mistakes get the same messages together as alone, except that a setting in the wrong block is not also reported as missing.':
    () => {
      const source = 'agentlang 5 agent "A" { description "d" limits { MISPLACED } PROMPT }';
      const withText = (misplaced: string, prompt: string) =>
        codesOf(source.replace('MISPLACED', misplaced).replace('PROMPT', prompt));
      expect(withText('foo', 'prompt "p"')).toEqual(['unknown-setting']);
      expect(withText('', '')).toEqual(['missing-prompt']);
      expect(withText('foo', '')).toEqual(['missing-prompt', 'unknown-setting']);
      expect(withText('prompt "p"', '')).toEqual(['unknown-setting']);
    },
  'A misspelled name gets a suggestion, and so does a word of another language for a setting or a type.':
    () => {
      expect(problemsOf(agentWith('  histroy none'))).toEqual([
        '5:3 unknown setting "histroy", did you mean "history"? [unknown-setting]',
      ]);
      expect(problemsOf(agentWith('  plugins time'))).toEqual([
        '5:3 unknown setting "plugins", did you mean "tools"? [unknown-setting]',
      ]);
      expect(
        problemsOf(agentWithCapability('input { a bool "x" } get "https://a.example/"')),
      ).toEqual(['7:11 unknown type "bool", did you mean "boolean"? [unknown-type]']);
    },
  'A source with an error has no definition; a source with warnings has one.': () => {
    expect(readDefinition(agentWith('  foo')).definition).toBeNull();
    const { definition, diagnostics } = readDefinition('agentlang 5 agent "A" { prompt "p" }');
    expect(diagnostics).toMatchObject([{ severity: 'WARNING' }]);
    expect(definition).toMatchObject({ name: 'A', prompt: ['p'] });
  },
  'Text that looks like a secret gets a warning, which asks for `env.NAME` only where a variable is allowed, and no message repeats the text.':
    () => {
      const secret = 'sk-proj-0123456789abcdefghijklmnop';
      expect(problemsOf(agentWithPrompt(`"The key is ${secret}"`))).toEqual([
        '4:10 this looks like a secret, remove it, no variable is allowed in its place [secret-literal]',
      ]);
      expect(problemsOf(inModel(`base_url "https://${secret}.example/"`))).toEqual([
        '6:10 this looks like a secret, expected env.NAME in its place [secret-literal]',
      ]);
      for (const source of [
        inModel(`api_key "${secret}"`),
        inModel(`api_key ${secret}`),
        inModel(secret),
        agentWithPrompt(`"{{ ${secret} }}"`),
      ]) {
        expect(codesOf(source)).toContain('secret-literal');
        expect(problemsOf(source).join('\n')).not.toContain('0123456789');
      }
    },
  "If the deployment's variables are known, a variable without a value gets a warning, and so does an unused one.":
    () => {
      const source = agentWith(
        '  channel telegram { token env.T }\n  tools g mcp env.U { header "A" "{{ env.T }}" }',
      );
      expect(codesOf(source)).toEqual([]);
      expect(problemsOf(source, { envNames: ['U', 'V'] })).toEqual([
        '1:1 env.V has a value and is never used [env-unused]',
        '5:32 env.T has no value in this deployment [env-unset]',
      ]);
      expect(codesOf(source, { envNames: ['T', 'U'] })).toEqual([]);
    },
  'At most 100 problems are listed, errors before warnings, and one more counts the others.':
    () => {
      const diagnostics = problemsOf(agentWith('foo\n'.repeat(150)));
      expect(diagnostics).toHaveLength(101);
      expect(diagnostics.slice(98)).toEqual([
        expect.stringMatching(/^103:1 unknown setting "foo"/),
        expect.stringMatching(/^104:1 unknown setting "foo"/),
        '154:1 50 more problems are not listed [too-many-problems]',
      ]);
      expect(codesOf(agentWith('foo\n'.repeat(100)))).not.toContain('too-many-problems');
      const capability = (index: number) => `capability c${index} "d" { get "http://a.b/" }`;
      const source = agentWith(`  tools g { ${many(120, capability)} }\nfoo\nbar`);
      expect(codesOf(source)).toEqual([
        ...Array<string>(98).fill('plain-http'),
        'unknown-setting',
        'unknown-setting',
        'too-many-problems',
      ]);
    },
};
