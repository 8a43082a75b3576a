import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatSource } from '../../src/language/format.ts';
import { readDefinition } from '../../src/language/read.ts';

const source = readFileSync(new URL('kitchen-sink.agent', import.meta.url), 'utf8');
const tests = readFileSync(new URL('kitchen-sink-tests.json', import.meta.url), 'utf8');
const meaning = readFileSync(new URL('kitchen-sink.json', import.meta.url), 'utf8');

test('a source with every feature is parsed without problems', () => {
  const report = readDefinition(source);
  expect(report.diagnostics).toEqual([]);
  expect(report.envNames).toEqual([
    'GITHUB_TOKEN',
    'HANDBOOK_URL',
    'MODEL_KEY',
    'ORDERS_HOST',
    'ORDERS_KEY',
    'TELEGRAM_APPROVERS',
    'TELEGRAM_TOKEN',
  ]);
  expect(report.channels).toEqual(['web', 'telegram']);
  expect(report.tools).toEqual([
    'github.all',
    'github.create_issue',
    'github.get-issue',
    'github.search_issues',
    'handbook.*',
    'orders.cancel',
    'orders.change',
    'orders.create',
    'orders.lookup',
    'orders.replace',
    'orders.search',
    'time.now',
  ]);
});

test('a source with every feature has the definition in kitchen-sink.json', () => {
  expect(readDefinition(source).definition).toEqual(JSON.parse(meaning));
});

test('a source with every feature has the tests in kitchen-sink-tests.json, apart from its definition', () => {
  expect(readDefinition(source).tests).toEqual(JSON.parse(tests));
  const { definition } = readDefinition(`${source.slice(0, source.indexOf('  test "'))}}`);
  expect(readDefinition(source).definition).toEqual(definition);
});

test('a definition is plain JSON', () => {
  const { definition } = readDefinition(source);
  expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
});

test('a source with every feature is already formatted', () => {
  expect(formatSource(source)).toBe(source);
});
