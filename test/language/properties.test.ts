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
  boolean[] "x" "y" get post header timeout limits tool_calls run_time time é 😀 first-name __proto__`
    .split(' ')
    .filter(Boolean);

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
