import { type Database, openPostgres } from '../storage/database.ts';
import type { Config } from './config.ts';

type Settings = Pick<
  Config,
  'databaseUrl' | 'databaseDirectUrl' | 'databasePoolSize' | 'dataDirectory'
>;

/** Opens the operator's database. Loads the embedded one only if it is used. @throws StartupError */
export async function databaseOf({
  databaseUrl,
  databaseDirectUrl: directUrl,
  databasePoolSize: poolSize,
  dataDirectory,
}: Settings): Promise<Database> {
  if (databaseUrl) return openPostgres(databaseUrl, { directUrl, poolSize });
  const { openEmbedded } = await import('../storage/embedded.ts');
  return openEmbedded(dataDirectory);
}
