import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../src/language/diagnostic.ts';
import { formatSource } from '../../src/language/format.ts';
import { readDefinition } from '../../src/language/read.ts';
import { runsOf } from '../helpers/rounds.ts';
import { agentWith } from './helpers.ts';

const EXAMPLES = new URL('../../prisma/examples/', import.meta.url);
const SOURCES = [
  readFileSync(new URL('kitchen-sink.agent', import.meta.url), 'utf8'),
  ...readdirSync(EXAMPLES).map((file) => readFileSync(new URL(file, EXAMPLES), 'utf8')),
];

/** Tokens of the language, and others that are invalid. */
const PIECES =
  `{ } , | . ? [ ] {{ }} ?? " """ # // \\ \n \t agentlang 5 4 agent "A" description model temperature
  0.2 -1 1e9 99999999999 max_tokens timeout 5s 500ms 1h base_url api_key env env.KEY prompt "{{ context.a }}"
  "{{ env.KEY }}" "{{ input.a ?? "b" }}" """a""" history none last messages memory name channel web telegram
  welcome suggestions token tools mcp "https://a.example/{{ input.a }}" only capability input string number?
  boolean[] "x" "y" get post header timeout limits tool_calls run_time time approval all reads repeatable expires
  24h 8d approvers "4711, -12" test user tool returns fails expect reply contains
  judged call no tokens below "{}" time.now orders."a-b" é 😀 first-name __proto__`
    .split(' ')
    .filter(Boolean);

/** A random capability or server with every setting of approvals, some of them out of place. */
const withApprovals = fc
  .tuple(
    fc.constantFrom('tools g { capability c "d" {', 'tools g mcp env.KEY {'),
    fc.array(
      fc.constantFrom(
        'approval',
        'approval "A sentence."',
        'approval { expires 90m }',
        'approval all',
        'approval a, "b-c"',
        'approval "all" "A sentence." { expires 7d }',
        'approval reads { expires 8d }',
        'reads',
        'reads a, all',
        'repeatable',
        'repeatable "b-c", d',
        'only a, "b-c", d',
        'post "https://a.example/"',
        'get "https://a.example/" {}',
      ),
      { maxLength: 8 },
    ),
    fc.constantFrom(' ', '\n', '\n\n # a comment\n'),
  )
  .map(([beginning, settings, between]) =>
    agentWith(
      [beginning, ...settings].join(between) +
        between +
        '}'.repeat(beginning.split('{').length - 1),
    ),
  );

/** A random test with every part, some of them out of place. */
const withTests = fc
  .tuple(
    fc.constantFrom('user "a"', 'context "{}" memory { name "b" } user "a"', ''),
    fc.array(
      fc.constantFrom(
        'context "{\\"a\\": [1]}"',
        'context "[]"',
        'memory { name "Ada" }',
        'memory { nmae """\n  b\n  """ }',
        'user "a"',
        'user """\n  {{ a }}\n  """',
        'tool time.now returns ""',
        'tool g."a-b" fails "c"',
        'expect reply contains "b"',
        'expect reply is """b"""',
        'expect output "{}"',
        'expect call time.now "{}"',
        'expect call g.later',
        'expect no call',
        'expect no call time.now',
        'expect tokens below 10',
      ),
      { maxLength: 6 },
    ),
    fc.constantFrom(' ', '\n', '\n\n # a comment\n'),
  )
  .map(([beginning, parts, between]) =>
    agentWith(
      `memory { name } tools time tools g mcp env.KEY test "t" { ${[beginning, ...parts, '}'].join(between)}`,
    ),
  );

/** The tests of a source without their places, which the formatter changes. */
const meaningOfTests = (source: string) =>
  JSON.stringify(readDefinition(source).tests, (name, value) =>
    name === 'line' || name === 'column' ? undefined : value,
  );

/** Checks the properties that hold for every text. */
function expectProperties(source: string): void {
  const { definition, diagnostics } = readDefinition(source, { envNames: ['KEY', 'OTHER'] });
  const lines = source.replace(/^\uFEFF/, '').split(/\r\n?|\n/);
  for (const { line, column, endLine, endColumn, message } of diagnostics) {
    expect(message).toMatch(/^[^\n]+$/);
    expect(message.isWellFormed()).toBe(true);
    expect(line).toBeGreaterThanOrEqual(1);
    expect(column).toBeGreaterThanOrEqual(1);
    expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? -1) + 1);
    expect(endLine).toBeGreaterThanOrEqual(line);
    if (endLine === line) expect(endColumn).toBeGreaterThanOrEqual(column);
    expect(endColumn).toBeLessThanOrEqual((lines[endLine - 1]?.length ?? -1) + 1);
  }
  const places = diagnostics.map(({ line, column }) => line * 1_000_000 + column);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  const errors = diagnostics.filter(({ severity }) => severity === 'ERROR');
  expect(definition === null).toBe(errors.length > 0);

  const formatted = formatSource(source);
  if (formatted === null) return;
  expect(formatSource(formatted)).toBe(formatted);
  const again = readDefinition(formatted, { envNames: ['KEY', 'OTHER'] });
  expect(again.definition).toEqual(definition);
  expect(meaningOfTests(formatted)).toBe(meaningOfTests(source));
  const codes = diagnostics.map(({ code }) => code);
  expect(again.diagnostics.map(({ code }) => code).toSorted()).toEqual(codes.toSorted());
}

describe('any text', () => {
  test('of random characters is parsed, and its problems have valid positions', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 400 }), expectProperties));
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), expectProperties));
  });

  test('of random tokens is parsed', () => {
    const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 80 });
    const separator = fc.constantFrom(' ', '\n', '');
    const randomTokens = fc.tuple(pieces, separator).map(([texts, between]) => texts.join(between));
    fc.assert(fc.property(randomTokens, expectProperties), runsOf(100));
    const inAgent = randomTokens.map((text) => agentWith(text));
    fc.assert(fc.property(inAgent, expectProperties), runsOf(100));
  });

  test('of random approvals is parsed, and keeps its meaning when it is formatted', () => {
    fc.assert(fc.property(withApprovals, expectProperties), runsOf(300));
    // Enough of these sources are correct, so that the properties of correct sources are tested too.
    const samples = fc.sample(withApprovals, { numRuns: 300, seed: 1 });
    const valid = samples.filter((text) => readDefinition(text).definition);
    expect(valid.length).toBeGreaterThan(20);
  });

  test('of random tests is parsed, and keeps its meaning when it is formatted', () => {
    fc.assert(fc.property(withTests, expectProperties), runsOf(300));
    const samples = fc.sample(withTests, { numRuns: 300, seed: 1 });
    expect(samples.filter((text) => readDefinition(text).definition).length).toBeGreaterThan(20);
  });

  test('with random changes to a correct source is parsed', () => {
    const part = fc.oneof(
      fc.constant(''),
      fc.string({ unit: 'binary', maxLength: 10 }),
      fc.constantFrom(...PIECES),
      fc.constantFrom(...SOURCES),
    );
    const change = fc.tuple(fc.nat(), fc.nat({ max: 40 }), part);
    const changed = fc
      .tuple(fc.constantFrom(...SOURCES), fc.array(change, { minLength: 1, maxLength: 4 }))
      .map(([source, changes]) =>
        changes.reduce((text, [place, length, replacement]) => {
          const start = place % text.length;
          return text.slice(0, start) + replacement + text.slice(start + length);
        }, source),
      );
    fc.assert(fc.property(changed, expectProperties), runsOf(100));
  });
});

describe('a correct text', () => {
  /** White space or a comment, which may separate any two tokens. */
  const gap = fc.constantFrom(' ', '\n', '\n\n\n', ' # "a" {\n', '\n# }\n', '\t', '\r\n');
  const gaps = fc.infiniteStream(gap);
  const tokens = /"""(?:\\"""|[\s\S])*?"""|"(?:\{\{[^}]*\}\}|\\.|[^"\\])*"|[{}]|[\w.]+|[^\s\w"{}]/g;

  test('keeps its meaning and its formatted form with any separators between its tokens', () => {
    const spread = fc.tuple(fc.constantFrom(...SOURCES), gaps).map(([source, stream]) => {
      const text = source.replace(/^\s*#.*\n/gm, '').replace(/ # .*$/gm, '');
      const spaced = (text.match(tokens) ?? []).map((token) => token + stream.next().value);
      return { source, spread: spaced.join('') };
    });
    fc.assert(
      fc.property(spread, ({ source, spread }) => {
        const report = readDefinition(spread);
        expect(report.diagnostics.map(formatDiagnostic)).toEqual([]);
        expect(report.definition).toEqual(readDefinition(source).definition);
        expectProperties(spread);
      }),
      runsOf(50),
    );
  });
});
