/** `npm run schema`: writes the schema to `schema.graphql` at the top, for clients and reviews. */
import { writeFile } from 'node:fs/promises';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from './index.ts';

/** The schema's text as `schema.graphql` holds it. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

if (import.meta.main) {
  await writeFile(new URL('../../schema.graphql', import.meta.url), printedSchema());
  console.log('Wrote schema.graphql');
}
