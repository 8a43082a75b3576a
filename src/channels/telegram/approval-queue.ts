import { isOwnerless, type Owner } from '../../coordination/worker-lease.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { STORED_NOW } from '../../storage/moment.ts';

/** A message to send or to edit. Only the process that took it may change it. */
export type TakenMessage = {
  approvalId: string;
  chatId: number;
  /** Null: it is not sent yet. */
  messageId: number | null;
  attempts: number;
  ownerId: string;
  /** The connected deployment of the bot, by which the message is sent. */
  deploymentId: string;
  telegramBotId: string;
  botId: string;
};

/** The messages about approvals in operators' chats, in SQL. */
export type ApprovalQueue = {
  /** Takes messages that must be sent, or edited because of a decision. */
  take(limit: number): Promise<TakenMessage[]>;
  /** Stores a sent message. It is due again once there is a decision. */
  sent(message: TakenMessage, messageId: number): Promise<void>;
  /** The message has the decision, or is given up. */
  done(message: TakenMessage): Promise<void>;
  postpone(message: TakenMessage, afterMs: number): Promise<void>;
};

export function createApprovalQueue({
  prisma,
  owner,
}: {
  prisma: PrismaClient;
  owner: Pick<Owner, 'id'>;
}): ApprovalQueue {
  const own = ({ approvalId, chatId, ownerId, attempts }: TakenMessage) => ({
    approvalId,
    chatId,
    ownerId,
    attempts,
  });

  return {
    async take(limit) {
      const isFree = Prisma.raw(isOwnerless('message.owner_id'));
      const taken = await prisma.$queryRaw<(Omit<TakenMessage, 'chatId' | 'messageId'> & Ids)[]>`
        WITH due AS (
          SELECT message.approval_id, message.chat_id, state.deployment_id, state.external_id, state.bot_id
          FROM approval_messages AS message JOIN approvals AS approval ON approval.id = message.approval_id
            JOIN channel_states AS state ON state.channel = 'TELEGRAM' AND state.status = 'CONNECTED'
              AND state.bot_id = approval.bot_id AND state.environment = approval.environment
            JOIN bots ON bots.id = approval.bot_id
            JOIN accounts ON accounts.id = bots.account_id AND suspended_at IS NULL
          WHERE done_at IS NULL AND message.available_at <= ${STORED_NOW} AND ${isFree}
            AND (message_id IS NULL OR approval.status <> 'WAITING')
          ORDER BY message.available_at LIMIT ${limit}::int FOR UPDATE OF message SKIP LOCKED
        )
        UPDATE approval_messages AS message SET owner_id = ${owner.id()}, attempts = attempts + 1
        FROM due WHERE message.approval_id = due.approval_id AND message.chat_id = due.chat_id
        RETURNING message.approval_id AS "approvalId", message.chat_id AS "chatId", message_id AS "messageId", attempts,
          owner_id AS "ownerId", deployment_id AS "deploymentId", external_id AS "telegramBotId", bot_id AS "botId"`;
      return taken.map(({ chatId, messageId, ...rest }) => ({
        ...rest,
        chatId: Number(chatId),
        messageId: messageId === null ? null : Number(messageId),
      }));
    },

    async sent(message, messageId) {
      await prisma.approvalMessage.updateMany({
        where: own(message),
        data: { messageId, ownerId: null, attempts: 0 },
      });
    },

    async done(message) {
      await prisma.approvalMessage.updateMany({
        where: own(message),
        data: { doneAt: new Date(), ownerId: null },
      });
    },

    async postpone({ approvalId, chatId, ownerId, attempts }, afterMs) {
      await prisma.$executeRaw`
        UPDATE approval_messages SET owner_id = NULL, available_at = now() + ${afterMs} * interval '1 millisecond'
        WHERE approval_id = ${approvalId} AND chat_id = ${chatId}::bigint AND owner_id = ${ownerId}
          AND attempts = ${attempts}::int`;
    },
  };
}

type Ids = { chatId: bigint; messageId: bigint | null };
