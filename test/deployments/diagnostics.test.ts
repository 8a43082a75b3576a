import { expect, test } from 'vitest';
import { listed, readDiagnostics, toolWarnings } from '../../src/deployments/diagnostics.ts';

const stored = { severity: 'ERROR', code: 'syntax', message: 'wrong', line: 3, column: 5 };

test('a stored problem keeps its position', () => {
  const located = { ...stored, endLine: 4, endColumn: 1 };
  expect(readDiagnostics([located])).toEqual([located]);
});

test('a problem that was stored without an end ends where it begins', () => {
  expect(readDiagnostics([stored])).toEqual([{ ...stored, endLine: 3, endColumn: 5 }]);
});

test('a deploy lists the first 100 warnings about tool servers', () => {
  const place = { line: 1, column: 1, endLine: 1, endColumn: 2 };
  const places = Array.from({ length: 150 }, (_, index) => ({
    group: 'far',
    tool: `tool_${index}`,
    ...place,
  }));
  const warnings = toolWarnings([{ group: 'far', tools: [] }], places);
  expect(warnings).toHaveLength(100);
  expect(warnings.at(-1)).toMatchObject({ code: 'tool-unknown', severity: 'WARNING' });
});

test('a deploy lists the first 100 errors about new destinations, and counts the others', () => {
  const error = { ...stored, severity: 'ERROR' as const, endLine: 3, endColumn: 6 };
  const errors = Array.from({ length: 150 }, (_, line) => ({ ...error, line }));
  const shown = listed(errors);
  expect(shown).toHaveLength(101);
  expect(shown.slice(0, 100)).toEqual(errors.slice(0, 100));
  expect(shown.at(-1)).toMatchObject({
    code: 'too-many-problems',
    message: '50 more problems are not listed',
  });
  expect(listed(errors.slice(0, 100))).toEqual(errors.slice(0, 100));
  expect(listed([])).toEqual([]);
});
