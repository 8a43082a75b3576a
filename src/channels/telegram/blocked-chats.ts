import type { PrismaClient } from '../../generated/prisma/client.ts';
import type { ChannelStates } from '../states.ts';

/** A chat, and the deployment whose state notes that it is blocked. */
export type ChatRef = {
  telegramBotId: string;
  botId: string;
  deploymentId: string;
  chatId: number;
};

/** The chats to which Telegram does not deliver. The state of the channel notes their number. */
export type BlockedChats = {
  add(chat: ChatRef): Promise<void>;
  /** Call it for each message of a chat: the user may have unblocked the bot. */
  remove(chat: ChatRef): Promise<void>;
};

/** The remark on a channel about the chats that have blocked a Telegram bot, if any. */
export async function blockedRemark(
  prisma: Pick<PrismaClient, 'telegramBlockedChat'>,
  telegramBotId: string,
): Promise<string | null> {
  const count = await prisma.telegramBlockedChat.count({ where: { telegramBotId } });
  if (count === 0) return null;
  return count === 1 ? '1 chat has blocked the bot.' : `${count} chats have blocked the bot.`;
}

export function createBlockedChats({
  prisma,
  states,
}: {
  prisma: PrismaClient;
  states: Pick<ChannelStates, 'remark'>;
}): BlockedChats {
  const note = async ({ telegramBotId, deploymentId }: ChatRef) => {
    const remark = await blockedRemark(prisma, telegramBotId);
    await states.remark({ deploymentId, channel: 'TELEGRAM' }, remark);
  };

  return {
    async add(chat) {
      const { telegramBotId, botId, chatId } = chat;
      const data = { telegramBotId, botId, chatId };
      await prisma.telegramBlockedChat.createMany({ data, skipDuplicates: true });
      await note(chat);
    },

    async remove(chat) {
      const { telegramBotId, chatId } = chat;
      const { count } = await prisma.telegramBlockedChat.deleteMany({
        where: { telegramBotId, chatId },
      });
      if (count > 0) await note(chat);
    },
  };
}
