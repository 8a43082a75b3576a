import { expect, test } from 'vitest';
import { readDiagnostics, toolWarnings } from '../../src/deployments/diagnostics.ts';

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
