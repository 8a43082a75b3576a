import { makeApiKey } from '../src/accounts/key-format.ts';
import { newApiKey } from '../src/accounts/keys.ts';
import { KeyScope, Prisma, type PrismaClient } from '../src/generated/prisma/client.ts';
import { makeId } from '../src/ids.ts';
import type { Definition } from '../src/language/definition.ts';

/** The bot that answers from the first start on. */
export const DEMO_BOT_ID = 'demo';

/** The demo bot, until it can be written in its own language. */
const DEMO: Definition = {
  name: 'Demo',
  description: 'A friendly bot to try Parley with.',
  model: { timeout: 60_000 },
  prompt: 'You are the demo bot of Parley, a gateway for conversational agents. Be brief and kind.',
  history: 40,
  channels: ['WEB'],
};

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
  const now = new Date();
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
      prisma.bot.create({ data: { id: DEMO_BOT_ID, accountId, name: DEMO.name } }),
      prisma.deployment.create({
        data: {
          id: deploymentId,
          botId: DEMO_BOT_ID,
          environment: 'PRODUCTION',
          status: 'DEPLOYED',
          definition: DEMO,
          channels: DEMO.channels,
          deployedAt: now,
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
