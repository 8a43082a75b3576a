import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { PubSub } from '../../coordination/pubsub.ts';
import { isOwnerless, type Owner } from '../../coordination/worker-lease.ts';
import { GatewayError } from '../../errors/errors.ts';
import { type Environment, Prisma } from '../../generated/prisma/client.ts';
import { INTERRUPTED } from '../../runs/queue/recovery.ts';
import { STORED_NOW } from '../../storage/moment.ts';
import type { IncomingMessage, IncomingUpdate } from './update.ts';

/** An update to handle. Only the process that took it may change it. */
export type TakenUpdate = {
  telegramBotId: string;
  updateId: bigint;
  botId: string;
  environment: Environment;
  sessionId: string;
  message: IncomingMessage;
  /** The messages of the reply that earlier attempts sent. */
  sentIds: number[];
  album: string | null;
  /** The number of this attempt, from 1. */
  attempts: number;
  /** The owner that took it. This process has another one after it was declared dead. */
  ownerId: string;
  createdAt: Date;
};

/** The bot and environment that a Telegram bot belongs to. */
export type Recipient = { telegramBotId: string; botId: string; environment: Environment };

/** The queue of updates, in SQL. Each is stored once, and handled once unless its process dies. */
export type Inbox = {
  /** Stores an update, unless it is stored already. */
  store(recipient: Recipient, update: IncomingUpdate): Promise<void>;
  /**
   * Takes the oldest update that may be handled. Of each lane, that is the update with the lowest id, once no process
   * handles another one.
   *
   * @param full Telegram bots whose updates must not be taken now.
   */
  take(full: readonly string[]): Promise<TakenUpdate | undefined>;
  /**
   * Waits until this process is sure to hold an update: after it was stopped for a while, another process may have
   * answered.
   *
   * @throws GatewayError `interrupted` if it lost the update.
   */
  untilHeld(update: TakenUpdate, signal: AbortSignal): Promise<void>;
  /** Stores the messages of the reply so far. */
  sent(update: TakenUpdate, messageIds: readonly number[]): Promise<void>;
  /** Marks an update as handled, and forgets its text. */
  done(update: TakenUpdate): Promise<void>;
  /** Returns an update to the queue. */
  postpone(update: TakenUpdate, afterMs: number): Promise<void>;
  /** Whether an earlier update of the same album exists. */
  isInAlbum(update: TakenUpdate): Promise<boolean>;
  /** Deletes updates that Telegram does not repeat any more, handled or not. */
  sweep(): Promise<void>;
};

/** Channel that notifies of new updates. */
export const INBOX_CHANNEL = 'telegram:updates';

/** Telegram repeats an update for at most 24 hours. Source: Bot API, "Getting updates". */
const KEPT_FOR = '2 days';
/** Older updates are not answered, such as after the channel was away. */
const ANSWERED_FOR = '24 hours';
const BATCH = 1_000;
const HELD_CHECK_MS = 200;

const isConnected = Prisma.sql`EXISTS (
  SELECT 1 FROM channel_states AS state
  WHERE state.channel = 'TELEGRAM' AND state.external_id = telegram_updates.telegram_bot_id
    AND state.bot_id = telegram_updates.bot_id AND state.environment = telegram_updates.environment
    AND state.status = 'CONNECTED')`;

const message = z.custom<IncomingMessage>((value) => typeof value === 'object' && value !== null);

export function createInbox({
  prisma,
  owner,
  pubsub,
}: {
  prisma: Prisma.TransactionClient;
  owner: Pick<Owner, 'id' | 'isAlive'>;
  pubsub: PubSub;
}): Inbox {
  const own = ({ telegramBotId, updateId, ownerId, attempts }: TakenUpdate) => ({
    telegramBotId,
    updateId,
    ownerId,
    attempts,
  });
  const notify = () => pubsub.publish(INBOX_CHANNEL, '');

  return {
    async store(recipient, { updateId, sessionId, album, message }) {
      const lane = laneOf(sessionId, message);
      const { telegramBotId, botId, environment } = recipient;
      // In SQL, the times are the database's.
      await prisma.$executeRaw`
        INSERT INTO telegram_updates
          (telegram_bot_id, update_id, bot_id, environment, session_id, lane, album, message)
        VALUES (${telegramBotId}, ${updateId}, ${botId}, ${environment}::"Environment", ${sessionId}, ${lane},
          ${album}, ${JSON.stringify(message)}::jsonb)
        ON CONFLICT DO NOTHING`;
      notify();
    },

    async take(full) {
      const ownerless = (table: string) => Prisma.raw(isOwnerless(`${table}.owner_id`));
      const sameLane = Prisma.sql`other.telegram_bot_id = telegram_updates.telegram_bot_id
        AND other.lane = telegram_updates.lane AND other.done_at IS NULL`;
      const [taken] = await prisma.$queryRaw<TakenUpdate[]>`
        UPDATE telegram_updates SET owner_id = ${owner.id()}, attempts = attempts + 1
        WHERE (telegram_bot_id, update_id) IN (
          SELECT telegram_bot_id, update_id FROM telegram_updates
          WHERE done_at IS NULL AND available_at <= ${STORED_NOW} AND ${ownerless('telegram_updates')}
            AND created_at > now() - ${ANSWERED_FOR}::interval
            AND NOT telegram_bot_id = ANY(${full}) AND ${isConnected}
            AND NOT EXISTS (SELECT 1 FROM telegram_updates AS other WHERE ${sameLane}
              AND other.update_id <> telegram_updates.update_id
              AND (other.update_id < telegram_updates.update_id
                OR (other.owner_id IS NOT NULL AND NOT ${ownerless('other')}))
              AND other.created_at > now() - ${ANSWERED_FOR}::interval)
          ORDER BY available_at, update_id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING telegram_bot_id AS "telegramBotId", update_id AS "updateId", bot_id AS "botId", environment,
          session_id AS "sessionId", message, sent_ids AS "sentIds", album, attempts, owner_id AS "ownerId",
          created_at AS "createdAt"`;
      if (!taken) return undefined;
      const sentIds = (taken.sentIds ?? []).map(Number);
      return { ...taken, message: message.parse(taken.message), sentIds };
    },

    async untilHeld({ ownerId }, signal) {
      while (owner.id() === ownerId && !owner.isAlive())
        await setTimeout(HELD_CHECK_MS, undefined, { signal, ref: false });
      if (owner.id() !== ownerId) throw new GatewayError('interrupted', INTERRUPTED);
    },

    async sent(update, messageIds) {
      const sentIds = messageIds.map(BigInt);
      await prisma.telegramUpdate.updateMany({ where: own(update), data: { sentIds } });
    },

    async done(update) {
      await prisma.telegramUpdate.updateMany({
        where: own(update),
        data: { doneAt: new Date(), message: Prisma.DbNull, ownerId: null },
      });
      notify();
    },

    async postpone({ telegramBotId, updateId, ownerId, attempts }, afterMs) {
      await prisma.$executeRaw`
        UPDATE telegram_updates
        SET owner_id = NULL, available_at = now() + ${afterMs} * interval '1 millisecond'
        WHERE telegram_bot_id = ${telegramBotId} AND update_id = ${updateId} AND owner_id = ${ownerId}
          AND attempts = ${attempts}`;
    },

    async isInAlbum({ telegramBotId, updateId, sessionId, album }) {
      if (album === null) return false;
      const where = { telegramBotId, sessionId, album, updateId: { lt: updateId } };
      return (await prisma.telegramUpdate.count({ where })) > 0;
    },

    async sweep() {
      for (let count = BATCH; count === BATCH; )
        count = await prisma.$executeRaw`
          DELETE FROM telegram_updates WHERE (telegram_bot_id, update_id) IN (
            SELECT telegram_bot_id, update_id FROM telegram_updates
            WHERE created_at < now() - ${KEPT_FOR}::interval LIMIT ${BATCH})`;
    },
  };
}

function laneOf(sessionId: string, { request }: IncomingMessage): string {
  // A decision does not belong to the conversation in the chat.
  if (request.kind === 'press') return `${sessionId} press`;
  // A request to stop must not wait for the reply that it stops.
  const isStop = request.kind === 'command' && request.command === 'stop';
  return isStop ? `${sessionId} stop` : sessionId;
}
