/**
 * `npm run migration -- NAME`: generates a migration for the changes in `schema.prisma`.
 * The server applies it at its next start.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { PRISMA_DIRECTORY } from './migration-files.ts';
import { nextMigration } from './schema-engine.ts';

const [name = '', ...others] = parseArgs({ allowPositionals: true }).positionals;
if (!/^[a-z][a-z0-9_]*$/.test(name) || others.length > 0) {
  console.error(
    'Give a name of lower-case letters, digits and underscores that starts with a letter: npm run migration -- NAME',
  );
  process.exit(1);
}

const script = await nextMigration();
if (script === '') {
  console.log('No migration needed: prisma/schema.prisma matches prisma/migrations.');
} else {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const directory = new URL(`migrations/${stamp}_${name}/`, PRISMA_DIRECTORY);
  await mkdir(directory, { recursive: true });
  await writeFile(new URL('migration.sql', directory), script);
  console.log(`Wrote prisma/migrations/${stamp}_${name}/migration.sql`);
}
process.exit(0);
