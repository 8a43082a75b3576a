import type { Account, Bot, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { botId as botIdSchema } from '../text/input.ts';
import type { Caller } from './caller.ts';
import type { KeyLookups, KeyOrigin } from './key-lookup.ts';
import type { Changed } from './key-watchers.ts';

/** A bot with a chat page, and its account. */
export type Visited = { account: Account; bot: Bot };

/** The columns that tell whether a bot has a page. Prisma's adapter for PGlite cannot filter by a list of enums. */
const PAGE = {
  account: true,
  activeDeployments: {
    where: { environment: 'PRODUCTION' },
    select: { deployment: { select: { channels: true } } },
  },
} as const satisfies Prisma.BotInclude;

/** Whether the bot's active production deployment has the web channel, and its account is not suspended. */
function hasPage({ account, activeDeployments }: Prisma.BotGetPayload<{ include: typeof PAGE }>) {
  return (
    account.suspendedAt === null &&
    activeDeployments.some(({ deployment }) => deployment.channels.includes('WEB'))
  );
}

/** Finds a bot whose active production deployment has the web channel. */
export type FindVisited = (botId: string, origin?: KeyOrigin) => Promise<Visited | undefined>;

export function createFindVisited({
  prisma,
  lookUps,
}: {
  prisma: PrismaClient;
  lookUps: KeyLookups;
}): FindVisited {
  const lookUp = lookUps({
    statements: 4,
    isValid: hasPage,
    findOne: (id) => prisma.bot.findUnique({ where: { id }, include: PAGE }),
    findMany: async (ids) => {
      const bots = await prisma.bot.findMany({ where: { id: { in: ids } }, include: PAGE });
      return new Map(bots.map((bot) => [bot.id, bot]));
    },
  });
  return async (botId, origin = {}) => {
    if (!botIdSchema.safeParse(botId).success) return undefined;
    const isSpent = origin.isSpent || origin.isSpentFor?.(botId) || false;
    const found = await lookUp(botId, { ...origin, isSpent });
    if (!found || !hasPage(found)) return undefined;
    const { account, activeDeployments: _, ...bot } = found;
    return { account, bot };
  };
}

/** Finds the bots among these that have no chat page, for the watchers of visitors. */
export async function findClosedPages(prisma: PrismaClient, botIds: string[]): Promise<Changed[]> {
  const bots = await prisma.bot.findMany({ where: { id: { in: botIds } }, include: PAGE });
  const open = new Set(bots.filter(hasPage).map(({ id }) => id));
  return botIds.filter((id) => !open.has(id)).map((hash) => ({ hash, hasEnded: true }));
}

/** The caller of a visitor's token: it may chat in one session. Streams watch it by the bot's id. */
export function visitorOf({ account, bot }: Visited, sessionId: string, expiresAt: Date): Caller {
  return {
    account,
    key: {
      id: '',
      accountId: account.id,
      name: '',
      prefix: '',
      hash: bot.id,
      scopes: ['CHAT'],
      restricted: true,
      botIds: [bot.id],
      createdAt: bot.createdAt,
      lastUsedAt: null,
      expiresAt,
      revokedAt: null,
      narrowedAt: null,
      createdById: null,
    },
    session: {
      botId: bot.id,
      sessionId,
      environment: 'PRODUCTION',
      channel: 'WEB',
      visited: bot,
    },
  };
}
