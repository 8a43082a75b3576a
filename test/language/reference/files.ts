import { expect } from 'vitest';
import { agentWith, agentWithPrompt, codesOf, define, problemsOf } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const FILES: Sentences = {
  'A source begins with `agentlang 5`, and one `agent` with its name and block follows.': () => {
    expect(codesOf(agentWith(''))).toEqual([]);
    expect(codesOf('agent "A" { description "d" prompt "p" }')).toEqual(['missing-header']);
    expect(codesOf(`${agentWith('')}agent "B" { prompt "p" }`)).toEqual(['syntax']);
    expect(codesOf('agentlang 5 agent "A"')).toEqual(['syntax']);
  },
  'For a source in another version, only the version is reported.': () => {
    expect(codesOf('agentlang 4 agent { "\\q" nonsense }')).toEqual(['unsupported-version']);
  },
  'A source has at most 262144 bytes (256 KiB) in UTF-8.': () => {
    const fill = (bytes: number) => agentWith('').padEnd(bytes, '#');
    expect(codesOf(fill(262_144))).toEqual([]);
    expect(codesOf(fill(262_145))).toEqual(['source-too-large']);
    expect(codesOf(`${fill(262_142)}é`)).toEqual([]);
    expect(codesOf(`${fill(262_143)}é`)).toEqual(['source-too-large']);
  },
  'A source holds no control characters but tabs and line breaks.': () => {
    expect(codesOf(agentWith('\t\t# \t'))).toEqual([]);
    expect(codesOf(agentWith('# \u0000'))).toEqual(['invalid-character']);
    expect(codesOf(agentWithPrompt('"a\u001B"'))).toEqual(['invalid-character']);
  },
  'A line ends with `\\n`, `\\r\\n` or `\\r`, and a byte order mark at the beginning is ignored.':
    () => {
      const source = agentWithPrompt('"""\n    a\n    b"""', '  foo');
      for (const end of ['\n', '\r\n', '\r']) {
        const lines = `\uFEFF${source.replaceAll('\n', end)}`;
        expect(problemsOf(lines)).toEqual([expect.stringMatching(/^7:3 unknown setting "foo"/)]);
        expect(define(lines.replace('foo', '')).prompt).toEqual(['a\nb']);
      }
      expect(problemsOf('\uFEFFagents')).toEqual([expect.stringMatching(/^1:1 /)]);
    },
  'White space only separates, so an agent may be written on one line.': () => {
    const source = agentWith('  model "m" {\n temperature 1\n max_tokens 5\n }\n tools time');
    expect(define(source.replaceAll('\n', ' '))).toEqual(define(source));
  },
  'A comment runs from `#` to the end of its line.': () => {
    expect(define(agentWith('  history none # { "\n  tools # x\n time'))).toMatchObject({
      history: 0,
      tools: [{ name: 'time' }],
    });
  },
  'A setting occurs at most once in its block, except `channel`, `tools`, `capability`, `header`, `parameter`, `test`, the `approval` of a server, and the `user`, `tool` and `expect` of a test.':
    () => {
      expect(codesOf(agentWith('  history none\n  history none'))).toEqual(['duplicate-setting']);
      const get =
        'get "https://a.example/" { header "A" "a" header "B" "b" timeout 1s timeout 1s }';
      const group = (name: string) =>
        `  tools ${name} { capability a "d" { ${get} } capability b "d" { get "https://b.example/" } }`;
      const channels = '  channel web\n  channel telegram { token env.T }\n';
      const source = agentWith(`${channels}${group('x')}\n${group('y')}`);
      expect(codesOf(source)).toEqual(['duplicate-setting', 'duplicate-setting']);
      expect(codesOf(source.replaceAll('timeout 1s timeout 1s', ''))).toEqual([]);
      const server = 'tools g mcp env.U { approval a approval b reads c reads d }';
      expect(codesOf(agentWith(server))).toEqual(['duplicate-setting']);
    },
  'The keywords of the language are not reserved.': () => {
    const words = ['agentlang', 'agent', 'prompt', 'tools', 'mcp', 'env', 'none', 'get', 'string'];
    const facts = words.map((name) => ({ name, description: undefined }));
    expect(define(agentWith(`  memory {\n${words.join('\n')}\n  }`)).memory).toEqual(facts);
    expect(define(agentWith('  tools tools { }')).tools).toMatchObject([{ name: 'tools' }]);
  },
};
