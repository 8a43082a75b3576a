import { expect, test } from 'vitest';
import { readClientName } from '../../../src/runs/trace/client-name.ts';

test.each([
  ['OpenAI/Python 2.9.0', 'OpenAI/Python'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['Mozilla/5.0 (X11; Linux)', 'Mozilla/5.0'],
  [' \t node', 'node'],
  ['x'.repeat(65), 'x'.repeat(64)],
  ['a\u0000b', 'a'],
  ['a\u0085b', 'a'],
  ['caf\u00e9/1 x', 'caf\u00e9/1'],
  ['\u0000a', undefined],
  ['', undefined],
  [' '.repeat(1_000_000), undefined],
  [undefined, undefined],
  [['a', 'b'], undefined],
])('the client of the header %j is %j', (header, name) => {
  expect(readClientName(header)).toBe(name);
});
