import { expect } from 'vitest';
import { readDefinition } from '../../../src/language/read.ts';
import {
  agentWith,
  agentWithPrompt,
  capabilityOf,
  codesOf,
  define,
  inModel,
  many,
} from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const VALUES: Sentences = {
  'A string is written in double quotes, on one line.': () => {
    expect(define(agentWith('  model "gpt"')).model.name).toBe('gpt');
    expect(codesOf(agentWith("  model 'gpt'"))).toEqual(['syntax']);
    expect(codesOf(agentWith('  model "gpt\n  "'))).toContain('unterminated-string');
  },
  'The escapes of a string are `\\"`, `\\\\`, `\\n`, `\\t`, `\\u{…}` with a character\'s hexadecimal number, and `\\{`.':
    () => {
      expect(define(agentWith('  model "\\"\\\\\\n\\t\\u{e9}\\u{1F600}\\{"')).model.name).toBe(
        '"\\\n\té😀{',
      );
      for (const wrong of ['\\r', '\\x41', '\\u0041', '\\u{110000}', '\\u{0}', '\\ ', '\\}'])
        expect(codesOf(agentWith(`  model "a${wrong}"`))).toEqual(['invalid-escape']);
    },
  'A text in three double quotes has any number of lines and the same escapes, and `\\"""` for three quotes.':
    () => {
      expect(define(agentWithPrompt('"""one"""')).prompt).toEqual(['one']);
      const text = '"""\n    a "b" ""c""\n\n    \\t\\"\\\\ \\"""\\""""""';
      expect(define(agentWithPrompt(text)).prompt).toEqual(['a "b" ""c""\n\n\t"\\ """"""']);
    },
  'A text in three quotes loses the line break after its opening quotes.': () => {
    expect(define(agentWithPrompt('"""\na"""')).prompt).toEqual(['a']);
    expect(define(agentWithPrompt('"""  \n\na"""')).prompt).toEqual(['\na']);
  },
  'Each line of such a text loses the indentation that it shares with the closing line.': () => {
    expect(define(agentWithPrompt('"""\n    a\n      b\n  c\nd\n    e"""')).prompt).toEqual([
      'a\n  b\nc\nd\ne',
    ]);
    expect(define(agentWithPrompt('"""\n\t\ta\n\t b\n\tc"""')).prompt).toEqual(['\ta\n b\nc']);
    expect(define(agentWithPrompt('"""a\n    b\n    """')).prompt).toEqual(['a\nb\n']);
  },
  'The line break before closing quotes on a line of their own is kept.': () => {
    expect(define(agentWithPrompt('"""\n    a\n    """')).prompt).toEqual(['a\n']);
  },
  'A whole number is written in digits alone, any other number with digits on both sides of a point.':
    () => {
      expect(define(inModel('max_tokens 0800')).model.maxTokens).toBe(800);
      expect(define(inModel('temperature 0.25')).model.temperature).toBe(0.25);
      expect(define(inModel('temperature 1')).model.temperature).toBe(1);
      expect(codesOf(inModel('max_tokens 1.0'))).toEqual(['syntax']);
      for (const number of ['.5', '1.', '-1', '+1', '1e1', '1_0', '0x1', '1a'])
        expect(codesOf(inModel(`temperature ${number}`))).toEqual(['syntax']);
    },
  'A duration is a number directly followed by `ms`, `s`, `m`, `h` or `d`.': () => {
    for (const [text, milliseconds] of [
      ['250ms', 250],
      ['5s', 5_000],
      ['1.5m', 90_000],
    ] as const)
      expect(define(inModel(`timeout ${text}`)).model.timeout).toBe(milliseconds);
    for (const [text, seconds] of [
      ['1.5h', 5_400],
      ['2d', 172_800],
    ] as const)
      expect(
        capabilityOf(`approval { expires ${text} } get "https://a.example/"`).approval,
      ).toMatchObject({ expiresSeconds: seconds });
    for (const text of ['5', '5 s', '5w', '5sec', '"5s"'])
      expect(codesOf(inModel(`timeout ${text}`))).toEqual(['syntax']);
  },
  'A name is made of letters, digits and `_`, and does not begin with a digit.': () => {
    const memory = (name: string) => agentWith(`  memory {\n    ${name}\n  }`);
    for (const name of ['a', '_', 'A_1', '__a__']) expect(codesOf(memory(name))).toEqual([]);
    for (const name of ['1a', 'a-b', 'é', 'naïve', 'a$'])
      expect(codesOf(memory(name))).toEqual(['invalid-name']);
  },
  "A name has at most 64 characters; the name of a variable, a header, a parameter, a fallback model or a server's tool has at most 128.":
    () => {
      const name = (length: number) => 'n'.repeat(length);
      const request = (header: string) =>
        `capability c "d" { get "https://a.example/" { header "${header}" "v" } }`;
      const longNames = [
        (length: number) => `  memory { ${name(length)} }`,
        (length: number) => `  tools ${name(length)} mcp env.U`,
        (length: number) => `  tools g { capability ${name(length)} "d" { get "https://a.b/" } }`,
        (length: number) =>
          `  tools g { capability c "d" { input { ${name(length)} string "d" } get "https://a.b/" } }`,
      ];
      for (const settings of longNames) {
        expect(codesOf(agentWith(settings(64)))).toEqual([]);
        expect(codesOf(agentWith(settings(65)))).toEqual(['invalid-name']);
      }
      const longerNames = [
        (length: number) => `  tools g mcp env.${name(length)}`,
        (length: number) => `  tools g { ${request(name(length))} }`,
        (length: number) => `  tools g mcp env.U { only ${name(length)} }`,
        (length: number) => `  tools g mcp env.U { header "A" "{{ env.${name(length)} }}" }`,
      ];
      for (const settings of longerNames) {
        expect(codesOf(agentWith(settings(128)))).toEqual([]);
        expect(codesOf(agentWith(settings(129)))).toEqual(['invalid-name']);
      }
    },
  '`env.NAME` names a variable of the deployment; the report on a source lists the names, and no value is ever part of a definition.':
    () => {
      const telegram = '  channel telegram { token env.B }\n';
      const server = '  tools g mcp env.C { header "H" "{{ env.A }} {{ env.B }}" }';
      const { definition, envNames } = readDefinition(agentWith(telegram + server));
      expect(envNames).toEqual(['A', 'B', 'C']);
      expect(definition?.channels).toMatchObject([{ type: 'telegram', token: { env: 'B' } }]);
      expect(definition?.tools).toMatchObject([{ url: { env: 'C' } }]);
    },
  'A source names at most 200 variables.': () => {
    const capabilities = (count: number) =>
      many(
        count,
        (index) =>
          `capability c${index} "d" { get "https://a.b/{{ env.E${index} }}{{ env.F${index} }}" }`,
      );
    expect(codesOf(agentWith(`  tools g { ${capabilities(100)} }`))).toEqual([]);
    expect(codesOf(agentWith(`  tools g { ${capabilities(101)} }`))).toEqual(['too-many']);
  },
  'Names, descriptions, prompts and messages are not empty.': () => {
    const blank = agentWith('  model ""\n  memory { a "" }\n  channel web { welcome " " }');
    expect(codesOf(blank)).toEqual(['empty-text', 'empty-text', 'empty-text']);
    expect(codesOf(agentWithPrompt('"""\n   \n   """'))).toEqual(['empty-text']);
    expect(codesOf(agentWith('').replace('"A"', '""').replace('"d"', '""'))).toEqual([
      'empty-text',
      'empty-text',
    ]);
  },
};
