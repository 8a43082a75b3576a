/** `npm run schema`: writes `schema.graphql` in the project root, for clients and reviews. */
import { writeFile } from 'node:fs/promises';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from './index.ts';

/** The content of `schema.graphql`, sorted by name. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

if (import.meta.main) {
  await writeFile(new URL('../../schema.graphql', import.meta.url), printedSchema());
  console.log('Wrote schema.graphql');
}
