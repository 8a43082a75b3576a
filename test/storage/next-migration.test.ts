import { expect, test } from 'vitest';
import { nextMigration } from '../../src/storage/schema-engine.ts';

test('the migrations produce the data model; if this fails, run: npm run migration -- NAME', async () => {
  expect(await nextMigration()).toBe('');
});
