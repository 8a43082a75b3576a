import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createDiagnostics, formatDiagnostic } from '../../src/language/diagnostic.ts';
import { tokenize } from '../../src/language/lexer.ts';
import { readDefinition } from '../../src/language/read.ts';
import { createSource } from '../../src/language/source.ts';
import type { Token } from '../../src/language/token.ts';

const EXAMPLES = new URL('../../prisma/examples/', import.meta.url);
/**
 * The examples without their tests: a tool that several tests use has an error at each use, and JSON in a string that does not
 * begin has braces.
 */
const SOURCES = readdirSync(EXAMPLES).map((file) =>
  readFileSync(new URL(file, EXAMPLES), 'utf8').replace(/^ {2}test "[\s\S]*?^ {2}}$/gm, ''),
);
const FLAT_SOURCES = SOURCES.map((source) => source.replace(/^ +/gm, ''));

/** Each source with one of its tokens replaced, for every token. */
function replaceEach(
  sources: string[],
  isSelected: (token: Token) => boolean,
  replace: (text: string) => string,
) {
  return sources.flatMap((text) => {
    const source = createSource(text);
    const { tokens } = tokenize(source, createDiagnostics(source).report);
    return tokens
      .filter((token) => token.kind !== 'end' && isSelected(token))
      .map(
        ({ text: token, start, end }) => text.slice(0, start) + replace(token) + text.slice(end),
      );
  });
}

const errorsOf = (source: string) =>
  readDefinition(source)
    .diagnostics.filter(({ severity }) => severity === 'ERROR')
    .map(formatDiagnostic);

/** The sources that do not have exactly one error, with their errors. */
const withoutExactlyOne = (sources: string[]) =>
  sources
    .map((source) => ({ errors: errorsOf(source), source }))
    .filter(({ errors }) => errors.length !== 1);
const withMoreThanOne = (sources: string[]) =>
  withoutExactlyOne(sources).filter(({ errors }) => errors.length > 1);

const isBrace = ({ kind }: Token) => kind === '{' || kind === '}';
const isString = ({ kind }: Token) => kind === 'string';

describe('one mistake causes one error', () => {
  test('a missing brace', () => {
    expect(withoutExactlyOne(replaceEach(SOURCES, isBrace, () => ''))).toEqual([]);
  });

  test('a doubled brace', () => {
    expect(
      withoutExactlyOne(replaceEach(SOURCES, isBrace, (brace) => `${brace}\n${brace}`)),
    ).toEqual([]);
  });

  test('a missing brace in a source without indentation', () => {
    expect(withoutExactlyOne(replaceEach(FLAT_SOURCES, isBrace, () => ''))).toEqual([]);
  });

  test('a missing opening quote', () => {
    expect(withoutExactlyOne(replaceEach(SOURCES, isString, (text) => text.slice(1)))).toEqual([]);
  });

  test('a missing closing quote', () => {
    expect(withoutExactlyOne(replaceEach(SOURCES, isString, (text) => text.slice(0, -1)))).toEqual(
      [],
    );
  });

  test('a missing value or symbol', () => {
    const isNoWord = ({ kind }: Token) => kind !== 'name';
    expect(withMoreThanOne(replaceEach(SOURCES, isNoWord, () => ''))).toEqual([]);
  });

  test('a wrong letter', () => {
    const isWord = ({ kind }: Token) => kind === 'name';
    expect(
      withMoreThanOne(replaceEach(SOURCES, isWord, (word) => `${word.slice(0, -1)}q`)),
    ).toEqual([]);
  });
});
