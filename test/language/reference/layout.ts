import { expect } from 'vitest';
import { formatSource } from '../../../src/language/format.ts';
import { agentWith, agentWithCapability, agentWithPrompt, define } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const LAYOUT: Sentences = {
  'The formatter writes two spaces for each block, one setting a line, and values in columns, except directly in an agent, a group of capabilities and a capability.':
    () => {
      expect(
        formatSource('agentlang 5 agent "A" { prompt "p" model "m" { timeout 1s max_tokens 5 } }'),
      ).toBe(
        'agentlang 5\n\nagent "A" {\n  prompt "p"\n  model "m" {\n    timeout    1s\n    max_tokens 5\n  }\n}\n',
      );
      const settings = 'approval "s" { expires 2h }\n      reads\n      post "https://a.b/"';
      expect(formatSource(agentWithCapability(settings))).toContain(
        '      approval "s" {\n        expires 2h\n      }\n      reads\n      post "https://a.b/"\n',
      );
      const server = 'tools g mcp env.U { only a, b approval a "s" { expires 2h } reads b }';
      expect(formatSource(agentWith(server))).toContain(
        '    only     a, b\n    approval a "s" {\n      expires 2h\n    }\n    reads b\n',
      );
    },
  'The formatter keeps comments in their places, and one of several empty lines.': () => {
    const source =
      '# a\nagentlang 5 # b\n\nagent "A" { # c\n  # d\n  prompt "p" # e\n\n  # f\n} # g\n# h\n';
    expect(formatSource(source.replaceAll('\n\n', '\n\n\n \n').replaceAll('  ', ' '))).toBe(source);
  },
  'A value over 40 characters does not move the columns of other lines.': () => {
    const input = (choices: string) =>
      `    capability c "d" {\n      input {\n        kind ${choices} "k"\n        id   string${' '.repeat(choices.length - 6)} "i"\n      }\n      get "https://a.b/"\n    }`;
    const width40 = `"a" | "${'b'.repeat(32)}"`;
    const narrow = agentWith(`  tools g {\n${input(width40)}\n  }`);
    expect(formatSource(narrow)).toContain(`id   string${' '.repeat(34)} "i"`);
    expect(formatSource(narrow.replace('"bb', '"bbb'))).toContain('id   string "i"');
  },
  'The formatter breaks a list after each comma if the line would be longer than 100 characters.':
    () => {
      const web = (suggestions: string) =>
        agentWith(`  channel web {\n    suggestions ${suggestions}\n  }`);
      const [a, b, c] = ['a', 'b', 'c'].map((letter) => `"${letter.repeat(24)}"`);
      expect(formatSource(web(`${a}, ${b}, ${c}`))).toContain(`    suggestions ${a}, ${b}, ${c}\n`);
      expect(formatSource(web(`${a}, ${b},${c}, "d"`))).toContain(
        `    suggestions ${a},\n      ${b},\n      ${c},\n      "d"\n`,
      );
    },
  'Formatting changes no meaning, and formatting again changes nothing.': () => {
    const source = agentWithPrompt('"""\n a\n   b\n """', 'tools time history none');
    const formatted = formatSource(source) ?? '';
    expect(define(formatted)).toEqual(define(source));
    expect(formatSource(formatted)).toBe(formatted);
  },
  'A source with mistakes in its syntax is not formatted.': () => {
    for (const source of [
      '',
      'agentlang 4',
      agentWith('foo'),
      agentWith('model "m'),
      agentWith('}'),
    ])
      expect(formatSource(source)).toBeNull();
    expect(formatSource(agentWith('tool_calls 5'))).toBeNull();
    expect(formatSource(agentWith('history last 9999 messages'))).not.toBeNull();
  },
};
