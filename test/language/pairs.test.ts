import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readDefinition } from '../../src/language/read.ts';
import { createSource } from '../../src/language/source.ts';
import { MISTAKES, type Mistake, OPEN_ENDS } from './pairs/mistakes.ts';

const SOURCE = readFileSync(new URL('kitchen-sink.agent', import.meta.url), 'utf8');

/** A mistake with its position in the source, without the unchanged text around it. */
type Edit = { name: string; start: number; end: number; text: string };

function editOf([name, [found, text]]: [string, Mistake]): Edit {
  const start = SOURCE.indexOf(found);
  expect(SOURCE.split(found), `${name} occurs once`).toHaveLength(2);
  let [before, after] = [0, 0];
  const shortest = Math.min(found.length, text.length);
  while (before < shortest && found[before] === text[before]) before += 1;
  while (after < shortest - before && found.at(-1 - after) === text.at(-1 - after)) after += 1;
  return {
    name,
    start: start + before,
    end: start + found.length - after,
    text: text.slice(before, text.length - after),
  };
}

const apply = (edits: readonly Edit[]): string =>
  edits.toReversed().reduce((source, { start, end, text }) => {
    return source.slice(0, start) + text + source.slice(end);
  }, SOURCE);

/** The offset in the correct source, for an offset in the source with mistakes. */
function originOf(offset: number, edits: readonly Edit[]): string {
  let shift = 0;
  for (const { start, end, text } of edits) {
    if (offset < start + shift) break;
    if (offset < start + shift + text.length) return `${start}+${offset - start - shift}`;
    shift += text.length - (end - start);
  }
  return String(offset - shift);
}

/** The problems of the source with mistakes: code, position in the correct source, and message without names and hints. */
function problemsOf(...edits: Edit[]): string[] {
  const ordered = edits.toSorted((a, b) => a.start - b.start);
  const source = apply(ordered);
  const { lineStarts } = createSource(source);
  const problems = readDefinition(source).diagnostics.map(({ code, message, line, column }) => {
    const place = originOf((lineStarts[line - 1] ?? 0) + column - 1, ordered);
    const text = message.replaceAll(/"[^"]*"|line \d+/g, '…').replace(/, .*/, '');
    return `${place} ${text} [${code}]`;
  });
  return problems.toSorted();
}

const union = (one: string[], other: string[]) => [...new Set([...one, ...other])].toSorted();
const overlap = (a: Edit, b: Edit) => a.start < b.end && b.start < a.end;

const edits = Object.entries(MISTAKES).map(editOf);
const openEnds = Object.entries(OPEN_ENDS).map(editOf);
const all = [...edits, ...openEnds];
const alone = new Map(all.map((edit) => [edit, problemsOf(edit)]));

/** The pairs whose problems are not the union of both mistakes' problems. */
const wrongPairs = (ones: Edit[], others: Edit[]) =>
  ones.flatMap((one, index) =>
    others
      .slice(ones === others ? index + 1 : 0)
      .filter((other) => !overlap(one, other))
      .map((other) => ({
        pair: `${one.name}, ${other.name}`,
        found: problemsOf(one, other),
        expected: union(alone.get(one) ?? [], alone.get(other) ?? []),
      }))
      .filter(({ found, expected }) => found.join('\n') !== expected.join('\n')),
  );

describe('two independent mistakes', () => {
  test.each(all)('$name is a mistake', (edit) => {
    expect(alone.get(edit)).not.toEqual([]);
  });

  test('are reported like each of them alone', () => {
    expect(wrongPairs(edits, edits)).toEqual([]);
  });

  test('are reported like each of them alone, even if a block or a text has no end', () => {
    expect(wrongPairs(openEnds, edits)).toEqual([]);
  });
});
