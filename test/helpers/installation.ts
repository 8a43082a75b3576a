import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { migratedUrl } from './database.ts';
import { dataDirectoryInUse, temporaryDirectory } from './directories.ts';
import type { StartOptions } from './server.ts';

/**
 * The settings of servers that share a migrated database without rows.
 *
 * @param name identifies it on the PostgreSQL server.
 */
export async function installation(
  name: string,
  env: Record<string, string> = {},
): Promise<Required<Omit<StartOptions, 'command'>>> {
  const databaseUrl = inject('databaseUrl');
  if (!databaseUrl) return { dataDirectory: await dataDirectoryInUse(), env };
  const PARLEY_SECRET_KEY = randomBytes(32).toString('base64');
  const DATABASE_URL = await migratedUrl(databaseUrl, name);
  return {
    dataDirectory: await temporaryDirectory(),
    env: { PARLEY_SECRET_KEY, ...env, DATABASE_URL },
  };
}
