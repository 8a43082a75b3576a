import { describe, test } from 'vitest';
import { splitMarkdown } from '../../src/channels/telegram/split.ts';
import { visible, visibleJson } from '../../src/command/terminal/visible.ts';
import { diffTexts } from '../../src/console/diff/text-diff.ts';
import { compareWords } from '../../src/console/diff/words.ts';
import { renderTemplate, renderUrl } from '../../src/language/template.ts';
import { CSV, type ExportRow, JSON_LINES } from '../../src/runs/list/export-format.ts';
import { marksOf } from '../../src/runs/search/search-marks.ts';
import { wordsOf } from '../../src/runs/search/search-words.ts';
import { toPrintable, toStorable } from '../../src/text/characters.ts';
import { runMetadata } from '../../src/text/input.ts';
import type { JsonObject } from '../../src/text/json.ts';
import { expectLinear, repeatTo } from '../helpers/growth.ts';

/** Fails if work on a repeated part takes more than linear time. */
const expectLinearIn = (part: string, work: (text: string) => unknown, size = 32_000) =>
  expectLinear((length) => {
    const text = repeatTo(part, length);
    return () => work(text);
  }, size);

const rowOf = (text: string, metadata: JsonObject = {}): ExportRow => ({
  id: text,
  deploymentId: text,
  environment: 'PRODUCTION',
  kind: 'CHAT',
  status: 'COMPLETED',
  channel: 'API',
  entrance: null,
  sessionId: text,
  input: text,
  response: text,
  errorCode: null,
  errorMessage: text,
  model: text,
  metadata,
  createdAt: new Date(0),
  startedAt: null,
  finishedAt: null,
  latencyMs: null,
  promptTokens: 0,
  completionTokens: 0,
  toolsCalled: [text],
});

describe.each([
  ['CSV', CSV],
  ['JSON lines', JSON_LINES],
])('an exported run is written as %s in linear time', (_what, { row }) => {
  test.each(['"', '=', ' ', ' =', '\0', '\t', '\r\n', ',', "'", '\uff1d', '\ud800'])(
    'with repeated %j',
    (part) => expectLinearIn(part, (text) => row(rowOf(text, { text }))),
  );
});

const HIDDEN = ['\u202e', '\x1b', '\u200d', '👨\u200d', '\r', '\r\n', '\n', 'a\u200d', 'न\u200d'];
const OTHERS = ['\ufe0f', '👨\ufe0f', '1\ufe0f\u20e3', '\ud800', '\0', '\u{e0041}', '\x1b]52;c;'];

test.each([...HIDDEN, ...OTHERS])('%j is made visible in linear time', (part) =>
  expectLinearIn(part, (text) => [
    visible(text),
    visibleJson({ text }, 2),
    toPrintable(text),
    toStorable(text),
  ]),
);

test.each(['"', '日', '"日', 'a ', '日本 ', ' or ', '-', "'", '\\', '<->', '𠀀'])(
  'a search for %j is written in linear time',
  (part) => expectLinearIn(part, (text) => [wordsOf(text).values, marksOf(text, 0, 1e9)]),
);

const URL_PARTS = ['/', '.', '..', './', '%', 'é', '\ud83d', ':', '@', '?', '#', '\\', '//', 'a'];

describe('templates take linear time', () => {
  test.each(URL_PARTS)('in the URL of a request, with repeated %j', (part) =>
    expectLinearIn(
      part,
      (text) => [
        renderUrl([`https://a.b/${text}`, { path: ['a'] }], () => 'x'),
        renderUrl([text, { path: ['a'] }], () => 'x'),
        renderUrl(['https://a.b/', { path: ['a'] }], () => text),
      ],
      // A URL has 16,384 characters at most, also encoded.
      400,
    ),
  );

  test('with many parts and paths', () =>
    expectLinear((size) => {
      const template = Array.from({ length: size }, (_, at) => [`{{${at}`, { path: [`a${at}`] }]);
      return () => renderTemplate(template.flat(), (path) => path);
    }, 240));

  test('with one long value many times', () =>
    expectLinear((size) => {
      const template = Array.from({ length: 100 }, () => ({ path: ['a'] }));
      const value = { text: '"'.repeat(size) };
      return () => renderTemplate(template, () => value);
    }, 1_000));
});

const nested = (levels: number): JsonObject => ({ a: levels > 0 ? nested(levels - 1) : '' });

test.each<[what: string, make: (size: number) => JsonObject]>([
  ['long texts', (size) => ({ a: '"'.repeat(size) })],
  ['long names', (size) => ({ ['"'.repeat(size)]: 1 })],
  ['lone surrogates', (size) => ({ a: '\ud800'.repeat(size) })],
  ['deep objects', (size) => ({ a: Array.from({ length: size / 50 }, () => nested(40)) })],
])('metadata with %s is read in linear time', (_what, make) =>
  expectLinear((size) => {
    const metadata = make(size);
    return () => runMetadata.safeParse(metadata);
  }, 8_000),
);

describe('a diff takes linear time', () => {
  test.each(['. ', '.', 'a', '.\t', '。', 'a. ', '\r', '\n\r', '!? '])(
    'with lines of repeated %j',
    (part) => expectLinearIn(part, (text) => diffTexts(`${text}a`, `b${text}`), 4_000),
  );

  test.each(['a ', ' ', '.', 'é', '😀'])('of words, with repeated %j', (part) =>
    expectLinearIn(part, (text) => compareWords(`${text}a`, `b${text}`), 500),
  );
});

test.each(['> ', '- ', '> - ', '```\n', '~~~', 'a\n', 'a ', '1. a\n', '\n', '- [ ] ', '😀'])(
  'a reply of repeated %j is split into messages in linear time',
  (part) => expectLinearIn(part, (text) => splitMarkdown(text), 8_000),
);
