import { startPollingWorker } from '../../coordination/polling-worker.ts';
import type { PubSub } from '../../coordination/pubsub.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import { WORK_CHANNEL } from '../../runs/tool-calls/ask.ts';
import { persist } from '../../storage/persist.ts';
import type { ApprovalQueue, TakenMessage } from './approval-queue.ts';
import { approvalText } from './approval-text.ts';
import type { BlockedChats } from './blocked-chats.ts';
import type { Buttons } from './buttons.ts';
import { isTelegramError } from './error.ts';
import { MAX_ATTEMPTS, pauseAfter } from './pauses.ts';
import type { Registration } from './registration.ts';
import type { TelegramUse } from './use.ts';

/** The most messages that one process sends at a time. */
const SLOTS = 10;
/** The interval between two looks for messages whose notification was lost. */
const POLL_EVERY_MS = 5_000;

/** Sends a message about each approval to the chats that decide, and edits it once there is a decision. */
export function startApprovalWorker({
  prisma,
  queue,
  use,
  registration,
  buttons,
  blockedChats,
  pubsub,
  log,
}: {
  prisma: PrismaClient;
  queue: ApprovalQueue;
  use: Pick<TelegramUse, 'isUsed'>;
  registration: Pick<Registration, 'botOf'>;
  buttons: Buttons;
  blockedChats: Pick<BlockedChats, 'add'>;
  pubsub: PubSub;
  log: Log;
}): AsyncDisposable {
  const show = async (message: TakenMessage, signal: AbortSignal): Promise<void> => {
    const { approvalId, chatId, messageId, deploymentId } = message;
    const [approval, bot] = await Promise.all([
      prisma.approval.findUnique({ where: { id: approvalId } }),
      registration.botOf(deploymentId),
    ]);
    if (!approval) return;
    if (!bot) return queue.postpone(message, pauseAfter(message.attempts));
    const isWaiting = approval.status === 'WAITING';
    const text = approvalText(approval, chatId);
    if (messageId === null) {
      // Nobody in this chat has seen the question.
      if (!isWaiting) return queue.done(message);
      const sentId = await bot.send({ chatId }, text, signal, buttons.of(approvalId, chatId));
      return queue.sent(message, sentId);
    }
    if (!isWaiting) await bot.edit({ chatId }, messageId, text, signal);
    await queue.done(message);
  };

  const postpone = (message: TakenMessage, afterMs: number) => {
    const what = `The release of a message about the approval ${message.approvalId}`;
    return persist(() => queue.postpone(message, afterMs), { log, what });
  };

  const perform = async (message: TakenMessage, signal: AbortSignal): Promise<void> => {
    const { botId, attempts } = message;
    try {
      await show(message, signal);
    } catch (error) {
      if (signal.aborted) return postpone(message, 0);
      if (isTelegramError(error, 'message-gone')) return queue.done(message);
      if (isTelegramError(error, 'blocked')) {
        await blockedChats.add(message);
        return queue.done(message);
      }
      if (attempts >= MAX_ATTEMPTS) {
        log.error({ err: error, bot: botId }, 'A message about an approval cannot be sent.');
        return queue.done(message);
      }
      const waitS = isTelegramError(error, 'too-many') ? (error.retryAfterS ?? 1) : 0;
      return postpone(message, Math.max(waitS * 1_000, pauseAfter(attempts)));
    }
  };

  const poll = async (signal: AbortSignal) => {
    if (!(await use.isUsed())) return;
    for (let count = SLOTS; count === SLOTS && !signal.aborted; ) {
      const taken = await queue.take(SLOTS);
      await Promise.all(taken.map((message) => perform(message, signal)));
      count = taken.length;
    }
  };

  return startPollingWorker(poll, {
    pubsub,
    channel: WORK_CHANNEL,
    everyMs: POLL_EVERY_MS,
    log,
    problem: 'The messages about approvals could not be sent. They will be retried.',
  });
}
