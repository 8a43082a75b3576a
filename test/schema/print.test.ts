import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { printedSchema } from '../../src/schema/print.ts';

test('the schema is printed in schema.graphql; if this fails, run: npm run schema', async () => {
  const file = await readFile(new URL('../../schema.graphql', import.meta.url), 'utf8');
  expect(file).toBe(printedSchema());
});
