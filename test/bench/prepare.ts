/**
 * Prepares Parley's database for the benchmark, with Parley's own settings from the environment: a bot that sends as much
 * history to the model as the references do, and an account with practically no limits.
 *
 * Usage: node prepare.ts [BOT_ID]
 */

import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import { readConfig } from '../../src/start/config.ts';
import { seed } from '../../src/start/seed.ts';
import { openPostgres } from '../../src/storage/database.ts';
import { openEmbedded } from '../../src/storage/embedded.ts';
import { secretKeyCheck } from '../../src/storage/secret-key.ts';
import { makeId } from '../../src/text/ids.ts';
import { HISTORY, PROMPT } from './workload.ts';

const UNLIMITED = 2_000_000_000;
const [, , botId = 'bench'] = process.argv;
const bot = { botId, environment: 'PRODUCTION' as const };

const config = readConfig(process.env);
if (config.secretKey === undefined) throw new Error('PARLEY_SECRET_KEY is not set.');
const database = config.databaseUrl
  ? await openPostgres(config.databaseUrl)
  : await openEmbedded(config.dataDirectory);
try {
  await seed(database.prisma, secretKeyCheck(config.secretKey), config.bootstrapKey);
  await makeBot(database.prisma);
} finally {
  await database.close();
}
// The migrations leave a timer of 10 seconds, which would keep this process alive.
process.exit();

async function makeBot(prisma: PrismaClient): Promise<void> {
  const { id: accountId } = await prisma.account.findFirstOrThrow();
  await prisma.account.update({
    where: { id: accountId },
    data: { requestsPerMinute: UNLIMITED, requestsPerDay: UNLIMITED },
  });
  await prisma.bot.create({ data: { id: botId, accountId, name: botId } });
  await prisma.deployment.create({
    data: {
      ...bot,
      id: makeId('dep'),
      status: 'DEPLOYED',
      source: `agentlang 5\nagent "${botId}" {\n  prompt ${JSON.stringify(PROMPT)}\n  history last ${HISTORY} messages\n}\n`,
      deployedAt: new Date(),
      activeIn: { create: bot },
    },
  });
}
