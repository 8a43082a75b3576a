import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createDiagnostics, formatDiagnostic } from '../../src/language/diagnostic.ts';
import { tokenize } from '../../src/language/lexer.ts';
import { readDefinition } from '../../src/language/read.ts';
import { createSource } from '../../src/language/source.ts';
import type { Token } from '../../src/language/token.ts';

const EXAMPLES = new URL('../../prisma/examples/', import.meta.url);
const SOURCES = readdirSync(EXAMPLES).map((file) => readFileSync(new URL(file, EXAMPLES), 'utf8'));
const FLAT_SOURCES = SOURCES.map((source) => source.replace(/^ +/gm, ''));

/** Each source with one of its tokens replaced, in turn. */
function spoil(
  sources: string[],
  isMeant: (token: Token) => boolean,
  replace: (text: string) => string,
) {
  return sources.flatMap((text) => {
    const source = createSource(text);
    const { tokens } = tokenize(source, createDiagnostics(source).report);
    return tokens
      .filter((token) => token.kind !== 'end' && isMeant(token))
      .map(
        ({ text: token, start, end }) => text.slice(0, start) + replace(token) + text.slice(end),
      );
  });
}

const errorsOf = (source: string) =>
  readDefinition(source)
    .diagnostics.filter(({ severity }) => severity === 'ERROR')
    .map(formatDiagnostic);

/** Sources that do not have exactly one error, with their errors: none, if all is well. */
const withoutExactlyOne = (sources: string[]) =>
  sources
    .map((source) => ({ errors: errorsOf(source), source }))
    .filter(({ errors }) => errors.length !== 1);
const withMoreThanOne = (sources: string[]) =>
  withoutExactlyOne(sources).filter(({ errors }) => errors.length > 1);

const isBrace = ({ kind }: Token) => kind === '{' || kind === '}';
const isString = ({ kind }: Token) => kind === 'string';

describe('one mistake gives one error', () => {
  test('a brace left out', () => {
    expect(withoutExactlyOne(spoil(SOURCES, isBrace, () => ''))).toEqual([]);
  });

  test('a brace doubled', () => {
    expect(withoutExactlyOne(spoil(SOURCES, isBrace, (brace) => `${brace}\n${brace}`))).toEqual([]);
  });

  test('a brace left out of a source without indentation', () => {
    expect(withoutExactlyOne(spoil(FLAT_SOURCES, isBrace, () => ''))).toEqual([]);
  });

  test('an opening quote left out', () => {
    expect(withoutExactlyOne(spoil(SOURCES, isString, (text) => text.slice(1)))).toEqual([]);
  });

  test('a closing quote left out', () => {
    expect(withoutExactlyOne(spoil(SOURCES, isString, (text) => text.slice(0, -1)))).toEqual([]);
  });

  test('a value or a sign left out', () => {
    const isNoWord = ({ kind }: Token) => kind !== 'name';
    expect(withMoreThanOne(spoil(SOURCES, isNoWord, () => ''))).toEqual([]);
  });

  test('a letter wrong', () => {
    const isWord = ({ kind }: Token) => kind === 'name';
    expect(withMoreThanOne(spoil(SOURCES, isWord, (word) => `${word.slice(0, -1)}q`))).toEqual([]);
  });
});
