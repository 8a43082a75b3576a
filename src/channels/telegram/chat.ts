import { type Limits, rateLimitExceeded } from '../../accounts/limits.ts';
import { botVersionName } from '../../bots/bots.ts';
import { type ErrorCode, GatewayError } from '../../errors/errors.ts';
import type { StartChat } from '../../execution/start-chat.ts';
import type { StartedRun } from '../../execution/started-run.ts';
import type { Account, PrismaClient } from '../../generated/prisma/client.ts';
import type { Target, TelegramBot } from './api.ts';
import type { Inbox, TakenUpdate } from './inbox.ts';
import { type ReplyWriter, startReplyWriter, type WriterClock } from './reply-writer.ts';
import { startTyping } from './typing.ts';

/** The sender of a message, and the bot that answers. */
export type ChatParts = { bot: TelegramBot; target: Target; account: Account; text: string };

/**
 * Chats with the agent, and shows the reply as it grows. A further attempt at an update joins the run of the first one,
 * and edits the messages that it sent.
 *
 * @throws GatewayError as `StartChat`, or with the code of a failed run; TelegramError
 */
export type TelegramChat = (
  update: TakenUpdate,
  parts: ChatParts,
  signal: AbortSignal,
) => Promise<void>;

export function createTelegramChat({
  prisma,
  startChat,
  limits,
  inbox,
  clock,
}: {
  prisma: PrismaClient;
  startChat: StartChat;
  limits: Pick<Limits, 'takeForAccount'>;
  inbox: Pick<Inbox, 'sent' | 'untilHeld'>;
  clock?: WriterClock | undefined;
}): TelegramChat {
  const start = async (update: TakenUpdate, { account, text }: ChatParts, signal: AbortSignal) => {
    const { botId, environment, sessionId, telegramBotId, updateId } = update;
    const quota = await limits.takeForAccount(account, 1, botVersionName(botId));
    if (!quota.allowed) throw rateLimitExceeded(quota);
    const request = {
      accountId: account.id,
      plan: account.plan,
      keyId: null,
      botId,
      botVersion: quota.version,
      environment,
      channel: 'TELEGRAM' as const,
      entrance: 'TELEGRAM' as const,
      ...{
        sessionId,
        message: text,
        context: undefined,
        onBusy: undefined,
        traceparent: undefined,
      },
      onDisconnect: 'CONTINUE' as const,
      idempotencyKey: `${telegramBotId}:${updateId}`,
      idempotencyNamespace: `telegram:${botId}`,
    };
    return startChat(request, signal);
  };

  /** Stores the topic of a group's message, for later messages in the conversation. */
  const storeTopic = async ({ botId, environment, sessionId, message }: TakenUpdate) => {
    if (message.replyTo === undefined) return;
    const topicId = message.topicId ?? null;
    const where = { botId, environment, sessionId };
    await prisma.session.updateMany({ where, data: { topicId } });
  };

  return async (update, parts, signal) => {
    const { bot, target } = parts;
    await using typing = startTyping(bot, target, signal);
    const run = await start(update, parts, signal);
    await storeTopic(update);
    const onSent = (ids: readonly number[]) => inbox.sent(update, ids);
    const untilHeld = (stopped: AbortSignal) => inbox.untilHeld(update, stopped);
    const reply = { target, sentIds: update.sentIds, untilHeld, onSent };
    await using writer = startReplyWriter(bot, reply, signal, clock);
    const failure = await show(run, writer, signal, async () => typing[Symbol.asyncDispose]());
    if (failure) throw failure;
    await writer.finish();
  };
}

/** @returns the error of a failed run. */
async function show(
  run: StartedRun,
  writer: ReplyWriter,
  signal: AbortSignal,
  onText: () => Promise<void>,
): Promise<GatewayError | undefined> {
  let text = '';
  const failed = (code: ErrorCode, message: string) =>
    new GatewayError(code, message, { runId: run.id });
  for await (const event of run.read(signal, { failsFast: true })) {
    switch (event.type) {
      case 'RunStarted':
        text = '';
        break;
      case 'TextDelta':
        text += event.delta;
        if (text.trim() === '') break;
        void onText();
        writer.show(text);
        break;
      case 'ChatFailed':
        return failed(event.code, event.message);
      case 'ChatDone':
      case 'ChatCancelled':
        return undefined;
    }
  }
  signal.throwIfAborted();
  return failed('internal_error', 'The outcome of the run is not known yet.');
}
