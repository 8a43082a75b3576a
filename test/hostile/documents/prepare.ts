/**
 * Adds the heavy account to Parley's database, with Parley's own settings from the environment. The database must exist.
 *
 * Usage: node prepare.ts API_KEY. The key becomes the account's.
 */

import { createEnvironmentCipher } from '../../../src/deployments/environment.ts';
import { readConfig } from '../../../src/start/config.ts';
import { openPostgres } from '../../../src/storage/database.ts';
import { openEmbedded } from '../../../src/storage/embedded.ts';
import { fillHeavyAccount } from './heavy-account.ts';

const [, , apiKey = ''] = process.argv;
const config = readConfig(process.env);
if (config.secretKey === undefined) throw new Error('PARLEY_SECRET_KEY is not set.');
const database = config.databaseUrl
  ? await openPostgres(config.databaseUrl)
  : await openEmbedded(config.dataDirectory);
try {
  await fillHeavyAccount(database.prisma, createEnvironmentCipher(config.secretKey), apiKey);
} finally {
  await database.close();
}
// The migrations leave a timer of 10 seconds, which would keep this process alive.
process.exit();
