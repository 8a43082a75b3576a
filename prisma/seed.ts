import { readFile } from 'node:fs/promises';
import { makeApiKey } from '../src/accounts/key-format.ts';
import { newApiKey } from '../src/accounts/keys.ts';
import { KeyScope, Prisma, type PrismaClient } from '../src/generated/prisma/client.ts';
import { makeId } from '../src/ids.ts';

/** The bot that answers from the first start on. */
export const DEMO_BOT_ID = 'demo';

const DEMO_SOURCE = new URL('examples/demo.agent', import.meta.url);

/**
 * Sets an empty database up: the operator's account with one key that may do everything, and the demo bot.
 * Of several processes that start at once, one does it.
 *
 * @param bootstrapKey the operator's key; made where it is left out.
 * @returns the operator's key, or `null` where the database was set up before.
 */
export async function seed(
  prisma: PrismaClient,
  secretKeyCheck: string,
  bootstrapKey = makeApiKey(),
): Promise<string | null> {
  if (await prisma.installation.findUnique({ where: { id: 1 } })) return null;
  const accountId = makeId('acc');
  const deploymentId = makeId('dep');
  const operatorKey = newApiKey(accountId, bootstrapKey, {
    name: 'Operator',
    scopes: Object.values(KeyScope),
  });
  const source = await readFile(DEMO_SOURCE, 'utf8');
  try {
    await prisma.$transaction([
      prisma.installation.create({ data: { secretKeyCheck } }),
      prisma.account.create({
        data: {
          id: accountId,
          name: 'Operator',
          plan: 'ENTERPRISE',
          requestsPerMinute: 6_000,
          requestsPerDay: 1_000_000,
        },
      }),
      prisma.apiKey.create({ data: operatorKey }),
      prisma.bot.create({ data: { id: DEMO_BOT_ID, accountId, name: 'Demo' } }),
      prisma.deployment.create({
        data: {
          id: deploymentId,
          botId: DEMO_BOT_ID,
          environment: 'PRODUCTION',
          status: 'DEPLOYED',
          source,
          channels: ['WEB'],
          deployedAt: new Date(),
        },
      }),
      prisma.activeDeployment.create({
        data: { botId: DEMO_BOT_ID, environment: 'PRODUCTION', deploymentId },
      }),
    ]);
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002')
      return null;
    throw error;
  }
  return bootstrapKey;
}
