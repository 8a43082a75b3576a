import { LRUCache } from 'lru-cache';
import { type Actor, actorOf, recordChanges } from '../accounts/audit.ts';
import { type Caller, mayUseBot } from '../accounts/caller.ts';
import { lockAccount } from '../accounts/key-lineage.ts';
import { REMEMBER_MS, rememberFor, type Versions } from '../coordination/cache-versions.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { GatewayError, invalidInput, notFound } from '../errors/errors.ts';
import { type Bot, Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { deleteBatch } from '../storage/delete-batch.ts';
import { retryInRequest } from '../storage/retry.ts';
import { makeId } from '../text/ids.ts';
import { botId as botIdSchema } from '../text/input.ts';
import type { Logo } from './logo.ts';

/** The settings of a bot that can change. */
export type BotChanges = {
  [Setting in 'name' | 'webOrigins' | 'visitorSessionsPerHour' | 'visitorMessagesPerMinute']?:
    | Bot[Setting]
    | null
    | undefined;
} & {
  /** The logo of the chat page in base64. Null removes it. */
  logo?: string | null | undefined;
  /** What a definition must pass before it becomes active in production. Null removes it. */
  gate?: Prisma.InputJsonObject | null | undefined;
};

/** The bots of all accounts. */
export type Bots = {
  /**
   * Checks a caller's access to a bot, for every transport. Source: the API document, "Authentication".
   *
   * @throws GatewayError `bot_not_found`, or `bot_access_denied` if the bot belongs to another account or the key is
   *   restricted to other bots.
   */
  authorize(caller: Caller, botId: string): Promise<void>;
  /**
   * Creates a bot. Ids of deleted bots are never reused.
   *
   * @throws GatewayError `invalid_request` if the id is or was in use, or if the account has too many bots.
   */
  create(caller: Caller, input: { id?: string | null; name: string }): Promise<Bot>;
  /**
   * Changes a bot's settings. Omitted fields stay as they are.
   *
   * @throws GatewayError `bot_not_found`; `invalid_request` for a logo that is no image.
   */
  update(caller: Caller, id: string, changes: BotChanges): Promise<Bot>;
  /**
   * Deletes a bot with its deployments, sessions and runs. If it fails midway, the bot still exists with its remaining
   * rows, and a retry continues.
   */
  remove(botId: string, actor: Actor): Promise<void>;
  /** As `remove`, for all bots of an account that is being deleted. The audit log has no entries for them. */
  removeAll(accountId: string): Promise<void>;
};

/** The name of a bot's cache version. */
export function botVersionName(botId: string): string {
  return `bot:${botId}`;
}

/** Bots that an account may have. */
export const MAX_BOTS = 1_000;

/** Channel on which the ids of deleted bots are published. */
export const REMOVED = 'bots:removed';
const REMOVAL = { maxWait: 30_000, timeout: 30_000 };
/** Tables to delete in batches, in this order. Deletes of their rows and of the bot cascade to all other rows. */
const TABLES = ['runs', 'sessions', 'deployments'];

const CACHE_SIZE = 10_000;

type Parts = {
  prisma: PrismaClient;
  pubsub: PubSub;
  versions: Versions;
  /** Disconnects a bot from outside services before its deletion. It does not reject. */
  releaseChannels?: (botId: string) => Promise<void>;
};

export function createBots({
  prisma,
  pubsub,
  versions,
  releaseChannels = async () => {},
}: Parts): Bots {
  /** Account ids by bot id. Without notification, a bot deleted on another replica stays cached for a second. */
  const owners = new LRUCache<string, string>({
    max: CACHE_SIZE,
    ttl: REMEMBER_MS,
    // A request that arrived before the deletion gets the fetched account; a later one reads it again.
    ignoreFetchAbort: true,
    fetchMethod: async (id, _stale, { options }) => {
      const readAt = performance.now();
      const bot = await retryInRequest(() => prisma.bot.findUnique({ where: { id } }));
      options.ttl = rememberFor(readAt);
      return bot?.accountId;
    },
  });

  const removeBot = async (
    botId: string,
    record: (tx: Prisma.TransactionClient) => Promise<void> = async () => {},
  ) => {
    await releaseChannels(botId);
    const ofBot = Prisma.sql`bot_id = ${botId}`;
    // The end of a run of the bot may lock the same rows in another order.
    await retryInRequest(async () => {
      for (const table of TABLES) while (await deleteBatch(prisma, Prisma.raw(table), ofBot));
      await prisma.$transaction(async (tx) => {
        await tx.$executeRaw`UPDATE api_keys SET bot_ids = array_remove(bot_ids, ${botId}) WHERE ${botId} = ANY (bot_ids)`;
        await tx.deletedBot.createMany({ data: { id: botId }, skipDuplicates: true });
        const { count } = await tx.bot.deleteMany({ where: { id: botId } });
        if (count > 0) await record(tx);
      }, REMOVAL);
    });
    pubsub.publish(REMOVED, botId);
    await versions.renew(botVersionName(botId));
  };

  pubsub.subscribe(REMOVED, (botId) => owners.delete(botId));

  return {
    async authorize(caller, botId) {
      const owner = botIdSchema.safeParse(botId).success && (await owners.fetch(botId));
      if (!owner) throw notFound('bot', botId);
      if (owner !== caller.account.id || !mayUseBot(caller, botId)) {
        throw new GatewayError(
          'bot_access_denied',
          `This API key has no access to the bot "${botId}".`,
        );
      }
    },

    async create(caller, { id, name }) {
      const { account, key } = caller;
      if (key.restricted) {
        throw new GatewayError(
          'bot_access_denied',
          'This API key is restricted to some bots and cannot create new ones.',
        );
      }
      const data = { id: id ?? makeId('bot'), name, accountId: account.id };
      try {
        return await prisma.$transaction(async (tx) => {
          await lockAccount(tx, account.id);
          if ((await tx.bot.count({ where: { accountId: account.id } })) >= MAX_BOTS)
            throw tooMany();
          const bot = await tx.bot.create({ data });
          // Check after the insert: if the id's bot is being deleted, the insert waits for that deletion to commit.
          const { id } = bot;
          if (await tx.deletedBot.findUnique({ where: { id } })) throw taken(id);
          const change = { action: 'CREATE_BOT', targetId: id, botId: id } as const;
          await recordChanges(tx, actorOf(caller), change);
          return bot;
        });
      } catch (error) {
        throw isUniqueViolation(error) ? taken(data.id) : error;
      }
    },

    async update(caller, id, changes) {
      const { name, webOrigins, visitorSessionsPerHour, visitorMessagesPerMinute, gate } = changes;
      const logo = changes.logo && (await logoFrom(changes.logo));
      return prisma.$transaction(async (tx) => {
        const [bot] = await tx.bot.updateManyAndReturn({
          where: { id, accountId: caller.account.id },
          data: {
            name: name ?? undefined,
            webOrigins: webOrigins ? [...new Set(webOrigins)] : undefined,
            visitorSessionsPerHour: visitorSessionsPerHour ?? undefined,
            visitorMessagesPerMinute: visitorMessagesPerMinute ?? undefined,
            gate: gate === null ? Prisma.DbNull : gate,
            logoHash: logo ? logo.hash : logo,
          },
        });
        if (!bot) throw notFound('bot', id);
        if (logo === null) await tx.botLogo.deleteMany({ where: { botId: id } });
        if (logo)
          await tx.botLogo.upsert({
            where: { botId: id },
            create: { botId: id, ...logo },
            update: logo,
          });
        const change = { action: 'UPDATE_BOT', targetId: id, botId: id } as const;
        await recordChanges(tx, actorOf(caller), change);
        return bot;
      });
    },

    remove: (botId, actor) =>
      removeBot(botId, (tx) =>
        recordChanges(tx, actor, { action: 'DELETE_BOT', targetId: botId, botId }),
      ),

    async removeAll(accountId) {
      const bots = await prisma.bot.findMany({ where: { accountId }, select: { id: true } });
      for (const { id } of bots) await removeBot(id);
    },
  };
}

/** Loads the sanitiser with the first logo. @throws GatewayError `invalid_request` */
async function logoFrom(base64: string): Promise<Logo> {
  const { readLogo } = await import('./logo.ts');
  const logo = readLogo(Buffer.from(base64, 'base64'));
  if ('problem' in logo) throw invalidInput([{ path: 'input.logo', message: logo.problem }]);
  return logo;
}

function tooMany(): GatewayError {
  const message = `An account has at most ${MAX_BOTS.toLocaleString('en')} bots. Delete one first.`;
  return new GatewayError('invalid_request', message);
}

function taken(id: string): GatewayError {
  return invalidInput([{ path: 'input.id', message: `"${id}" is taken` }]);
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}
