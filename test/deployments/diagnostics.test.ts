import { expect, test } from 'vitest';
import { readDiagnostics } from '../../src/deployments/diagnostics.ts';

const stored = { severity: 'ERROR', code: 'syntax', message: 'wrong', line: 3, column: 5 };

test('a stored problem keeps its position', () => {
  const located = { ...stored, endLine: 4, endColumn: 1 };
  expect(readDiagnostics([located])).toEqual([located]);
});

test('a problem that was stored without an end ends where it begins', () => {
  expect(readDiagnostics([stored])).toEqual([{ ...stored, endLine: 3, endColumn: 5 }]);
});
