import { LRUCache } from 'lru-cache';
import { type Caller, mayUseBot } from '../accounts/caller.ts';
import { lockAccount } from '../accounts/key-lineage.ts';
import type { Versions } from '../coordination/cache-versions.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { GatewayError } from '../errors.ts';
import { type Bot, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import { botId as botIdSchema } from '../input.ts';
import { type Lists, NEWEST_FIRST } from '../storage/lists.ts';

/** The bots of accounts. */
export type Bots = {
  /**
   * The one check of a caller's access to a bot, for every entrance.
   *
   * @throws GatewayError `bot_not_found`, or `bot_access_denied` for another account's bot and for a key that
   *   is limited to other bots. Source: the API document, "Authentication".
   */
  authorize(caller: Caller, botId: string): Promise<void>;
  /**
   * @throws GatewayError `invalid_request` for an id that is taken, or was: that of a deleted bot is no other's; and for more
   *   bots than an account may have.
   */
  create(caller: Caller, input: { id?: string | null; name: string }): Promise<Bot>;
  /**
   * Deletes a bot with its deployments, conversations and runs. When it breaks off, the bot is still there, with what is
   * left; the same again goes on.
   */
  remove(botId: string): Promise<void>;
};

/** The bots that a caller may see, as a condition of a query. */
export function visibleBots({ account, key }: Caller): Prisma.BotWhereInput {
  return { accountId: account.id, ...(key.restricted && { id: { in: key.botIds } }) };
}

/** The bots of accounts, the newest first. */
export const BOTS: Lists = {
  ...NEWEST_FIRST,
  table: Prisma.sql`bots`,
  owner: Prisma.sql`account_id`,
};

/** The bots that a caller may see, as conditions of a list. */
export function visibleInList({ account, key }: Caller): Prisma.Sql[] {
  return [
    Prisma.sql`account_id = ${account.id}`,
    ...(key.restricted ? [Prisma.sql`id = ANY(${key.botIds})`] : []),
  ];
}

/** Under this name is the version of what is remembered of a bot. */
export function botVersionName(botId: string): string {
  return `bot:${botId}`;
}

/** How many bots an account has at most. */
export const MAX_BOTS = 1_000;

/** Where the ids of bots that are no more are said. */
export const REMOVED = 'bots:removed';
const REMOVAL = { maxWait: 30_000, timeout: 30_000 };
/** How many rows one statement deletes, so that a bot with many holds up nobody else. */
const BATCH = 500;
/** What a bot has many of, in the order in which it goes; all else goes with these and with the bot. */
const TABLES = ['runs', 'sessions', 'deployments'] as const;

/** A bot deleted elsewhere is known here for at most this long, where the word of it is lost. */
const CACHE_TTL_MS = 1_000;
const CACHE_SIZE = 10_000;

type Parts = { prisma: PrismaClient; pubsub: PubSub; versions: Versions };

export function createBots({ prisma, pubsub, versions }: Parts): Bots {
  /** The accounts of bots. Requests that ask at once get their answer in the order in which they asked. */
  const owners = new LRUCache<string, string>({
    max: CACHE_SIZE,
    ttl: CACHE_TTL_MS,
    // Who asks while a bot is deleted is answered as it was found, and nobody after.
    ignoreFetchAbort: true,
    fetchMethod: async (id) => (await prisma.bot.findUnique({ where: { id } }))?.accountId,
  });

  /** @returns whether there may be more. */
  const deleteBatch = async (table: (typeof TABLES)[number], botId: string) => {
    const name = Prisma.raw(table);
    const count = await prisma.$executeRaw`
      DELETE FROM ${name} WHERE id IN (SELECT id FROM ${name} WHERE bot_id = ${botId} LIMIT ${BATCH})`;
    return count === BATCH;
  };

  pubsub.subscribe(REMOVED, (botId) => owners.delete(botId));

  return {
    async authorize(caller, botId) {
      const owner = botIdSchema.safeParse(botId).success && (await owners.fetch(botId));
      if (!owner) throw new GatewayError('bot_not_found', `There is no bot "${botId}".`);
      if (owner !== caller.account.id || !mayUseBot(caller, botId)) {
        throw new GatewayError(
          'bot_access_denied',
          `This API key has no access to the bot "${botId}".`,
        );
      }
    },

    async create({ account, key }, { id, name }) {
      if (key.restricted) {
        throw new GatewayError(
          'bot_access_denied',
          'This API key is limited to some bots and cannot make new ones.',
        );
      }
      const data = { id: id ?? makeId('bot'), name, accountId: account.id };
      try {
        return await prisma.$transaction(async (tx) => {
          await lockAccount(tx, account.id);
          if ((await tx.bot.count({ where: { accountId: account.id } })) >= MAX_BOTS)
            throw tooMany();
          const bot = await tx.bot.create({ data });
          // Only now: where the bot that has the id is being deleted, its row has held this one up until that is told.
          const { id } = bot;
          if (await tx.deletedBot.findUnique({ where: { id } })) throw taken(id);
          return bot;
        });
      } catch (error) {
        throw isUniqueViolation(error) ? taken(data.id) : error;
      }
    },

    async remove(botId) {
      for (const table of TABLES) while (await deleteBatch(table, botId));
      await prisma.$transaction(async (tx) => {
        await tx.$executeRaw`UPDATE api_keys SET bot_ids = array_remove(bot_ids, ${botId}) WHERE ${botId} = ANY (bot_ids)`;
        await tx.deletedBot.createMany({ data: { id: botId }, skipDuplicates: true });
        await tx.bot.deleteMany({ where: { id: botId } });
      }, REMOVAL);
      pubsub.publish(REMOVED, botId);
      await versions.renew(botVersionName(botId));
    },
  };
}

function tooMany(): GatewayError {
  const message = `An account has at most ${MAX_BOTS.toLocaleString('en')} bots. Delete one first.`;
  return new GatewayError('invalid_request', message);
}

function taken(id: string): GatewayError {
  const message = `"${id}" is taken`;
  const details = [{ path: 'input.id', message }];
  return new GatewayError('invalid_request', `id: ${message}`, { details });
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
