import { hash } from 'node:crypto';
import type { DeliverOutcome } from '../../approvals/settle.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import { chatOf } from '../../sessions/channel-ids.ts';
import type { Inbox } from './inbox.ts';

/**
 * Delivers the reply of the run that tells the outcome of an approval to the chat of its conversation. The reply takes the
 * queue of the updates, as an update that Parley makes: it is sent once, in turn with the replies to messages, and again
 * after a failure. The id of the update depends on the approval alone, so that a repeat stores no second one.
 */
export function createOutcomes({
  prisma,
  inbox,
}: {
  prisma: PrismaClient;
  inbox: Pick<Inbox, 'store'>;
}): DeliverOutcome {
  return async ({ approvalId, runId, botId, environment, channel, sessionId }) => {
    if (channel !== 'TELEGRAM' || sessionId === null) return;
    const chatId = Number(chatOf('TELEGRAM', sessionId));
    if (!Number.isSafeInteger(chatId)) return;
    const state = await prisma.channelState.findFirst({
      where: { channel, botId, environment, externalId: { not: null }, leaving: false },
      select: { externalId: true },
    });
    // The channel was removed, so that no bot can write in the chat.
    if (!state?.externalId) return;
    const session = await prisma.session.findUnique({
      where: { botId_environment_sessionId: { botId, environment, sessionId } },
      select: { topicId: true },
    });
    const recipient = { telegramBotId: state.externalId, botId, environment };
    const topic = session?.topicId ? { topicId: Number(session.topicId) } : {};
    const message = { chatId, ...topic, request: { kind: 'outcome', runId } } as const;
    await inbox.store(recipient, { updateId: updateIdOf(approvalId), sessionId, message });
  };
}

/** An id that no update of Telegram has: they are positive. */
function updateIdOf(approvalId: string): number {
  return -1 - Buffer.from(hash('sha256', approvalId, 'hex'), 'hex').readUIntBE(0, 6);
}
