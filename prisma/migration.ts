/**
 * `npm run migration -- NAME`: writes the next migration from what `schema.prisma` has changed.
 * The server applies it at its next start.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { nextMigration } from '../src/storage/migrate.ts';

const [name = '', ...others] = parseArgs({ allowPositionals: true }).positionals;
if (!/^[a-z][a-z0-9_]*$/.test(name) || others.length > 0) {
  console.error(
    'Name the migration in lower case letters, digits and _: npm run migration -- NAME',
  );
  process.exit(1);
}

const script = await nextMigration();
if (script === '') {
  console.log('Nothing to migrate: prisma/schema.prisma agrees with prisma/migrations.');
} else {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const directory = new URL(`migrations/${stamp}_${name}/`, import.meta.url);
  await mkdir(directory, { recursive: true });
  await writeFile(new URL('migration.sql', directory), script);
  console.log(`Wrote prisma/migrations/${stamp}_${name}/migration.sql`);
}
process.exit(0);
