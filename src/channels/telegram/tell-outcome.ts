import type { PrismaClient } from '../../generated/prisma/client.ts';
import type { Target, TelegramBot } from './api.ts';
import { SENTENCES } from './commands.ts';
import type { Inbox, TakenUpdate } from './inbox.ts';
import { startReplyWriter, type WriterClock } from './reply-writer.ts';

/**
 * Sends the reply of a run that has ended to a chat. A further attempt edits the messages of the first one.
 *
 * @throws TelegramError
 */
export type TellOutcome = (
  runId: string,
  update: TakenUpdate,
  to: { bot: TelegramBot; target: Target },
  signal: AbortSignal,
) => Promise<void>;

export function createTellOutcome({
  prisma,
  inbox,
  clock,
}: {
  prisma: PrismaClient;
  inbox: Pick<Inbox, 'sent' | 'untilHeld'>;
  clock?: WriterClock | undefined;
}): TellOutcome {
  return async (runId, update, { bot, target }, signal) => {
    const where = { id: runId };
    const run = await prisma.run.findUnique({ where, select: { status: true, response: true } });
    // The user has deleted the conversation.
    if (!run) return;
    const onSent = (ids: readonly number[]) => inbox.sent(update, ids);
    const untilHeld = (stopped: AbortSignal) => inbox.untilHeld(update, stopped);
    const reply = { target, sentIds: update.sentIds, untilHeld, onSent };
    await using writer = startReplyWriter(bot, reply, signal, clock);
    const text = run.status === 'FAILED' ? SENTENCES.outcomeFailed : run.response?.trim();
    if (text) writer.show(text);
    await writer.finish();
  };
}
