import { expect, test, vi } from 'vitest';
import { formatSource } from '../../src/language/format.ts';
import { readDefinition } from '../../src/language/read.ts';
import { MAX_SOURCE_BYTES } from '../../src/language/source.ts';
import { problemsOf } from './helpers.ts';

/** A beginning, and a piece repeated up to the maximum size of a source. */
const fill = (piece: string, beginning = '') =>
  beginning + piece.repeat((MAX_SOURCE_BYTES - beginning.length) / piece.length);

const AGENT = 'agentlang 5\nagent "A" {\n  description "d"\n';

test('a million open braces are one error', () => {
  expect(problemsOf('{'.repeat(1_000_000))).toEqual([
    '1:1 the source is over 262144 bytes [source-too-large]',
  ]);
  expect(problemsOf(fill('{'))).toEqual(['1:1 expected "agentlang 5", found "{" [missing-header]']);
  expect(problemsOf(fill('{', `${AGENT}  prompt "p"\n`))).toEqual([
    '5:1 expected a setting or "}", found "{" [syntax]',
  ]);
});

test('a million closing braces are one error', () => {
  expect(problemsOf(fill('}', `${AGENT}  prompt "p"\n`))).toEqual([
    '5:2 unexpected "}", no block is open for it [stray-brace]',
  ]);
});

test('a sequence of NUL bytes is one error', () => {
  expect(problemsOf(fill('\0'))).toEqual([
    '1:1 invalid character U+0000 [invalid-character]',
    '1:262145 expected "agentlang 5", found the end of the file [missing-header]',
  ]);
  expect(problemsOf(`${AGENT}\0\0 \0 prompt "p" }`)).toEqual([
    '4:1 invalid character U+0000 [invalid-character]',
    '4:4 invalid character U+0000 [invalid-character]',
  ]);
});

test('a lone surrogate is an error, and a surrogate pair is not', () => {
  expect(problemsOf(`${AGENT}  prompt "😀\ud83d" }`)).toEqual([
    '4:13 invalid character U+D83D [invalid-character]',
  ]);
  expect(problemsOf(`${AGENT}  prompt "😀" }`)).toEqual([]);
});

test('a message contains only the beginning of a long word', () => {
  expect(problemsOf(fill('ab', AGENT))[1]).toMatch(
    /^4:1 unknown setting "(?:ab){16}…", expected "/,
  );
});

test.each([
  ['words', fill('foo\n', AGENT)],
  ['letters beyond ASCII', fill('é ', AGENT).slice(0, 150_000)],
  ['quotes', fill('"\n', AGENT)],
  ['three quotes', fill('"""', AGENT)],
  ['backslashes', fill('\\', `${AGENT}prompt "`)],
  ['lines', fill('\n')],
  ['carriage returns', fill('\r')],
  ['comments', fill('#\n', AGENT)],
  ['slashes', fill('//\n', AGENT)],
  ['open templates in a string', fill('{{', `${AGENT}prompt "`)],
  ['open defaults in a string', fill('{{a??"', `${AGENT}prompt "`)],
  ['templates that never close', fill('{{ context.a ?? "', `${AGENT}prompt """`)],
  ['templates outside of strings', fill('{{ a ?? "', AGENT)],
  [
    'templates in a URL',
    fill('{{now}}', `${AGENT}tools g { capability c "d" { get "https://a.example/`),
  ],
  ['facts of one name', fill(' a', `${AGENT}memory {`)],
  ['groups of one name', fill(' tools a', AGENT)],
  [
    'blocks that never close',
    fill(' capability a "b" { get "https://a.b/" {', `${AGENT}tools x {`),
  ],
  ['blocks at the margin', fill('capability a "b" {\n', `${AGENT}  tools x {\n`)],
  ['a list without an end', fill('"a",', `${AGENT}channel web { suggestions `)],
  ['digits', fill('1', `${AGENT}history last `)],
  ['beginnings of secrets', fill('eyJ-', `${AGENT}prompt "`)],
  ['numbers like the beginning of a token', fill('12345678:', `${AGENT}prompt "`)],
  ['white space', fill(' ', `${AGENT}  prompt "`)],
])('256 KiB of %s are parsed with errors and not formatted, without hanging', (_what, source) => {
  const { definition, diagnostics } = readDefinition(source);
  expect(definition).toBeNull();
  expect(diagnostics.length).toBeGreaterThanOrEqual(1);
  expect(diagnostics.length).toBeLessThanOrEqual(101);
  expect(formatSource(source)).toBeNull();
});

test('256 KiB of correct source are parsed and formatted', () => {
  const description = 'does '.repeat(390);
  const capabilities = Array.from(
    { length: 128 },
    (_, index) =>
      `    capability c${index} "${description}" {\n      get "https://a.example/${index}/{{ context.a }}"\n    }`,
  ).join('\n');
  const source = `${AGENT}  prompt "p"\n\n  tools g {\n${capabilities}\n  }\n}\n`.replace(
    '\n',
    '\n\n',
  );
  expect(source.length).toBeGreaterThan(230_000);
  expect(readDefinition(source).tools).toHaveLength(128);
  expect(readDefinition(source).definition).not.toBeNull();
  expect(formatSource(source)).toBe(source);
});

test('a source with many texts that never close is searched once for closing quotes', () => {
  const source = `${AGENT}  prompt """\n${' \\"""\n'.repeat(2_000)}`;
  const comparisons = vi.spyOn(String.prototype, 'startsWith');
  readDefinition(source);
  const { length } = comparisons.mock.calls;
  comparisons.mockRestore();
  expect(length).toBeLessThan(source.length);
});
