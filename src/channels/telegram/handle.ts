import type { ActiveDeployments, RunningDeployment } from '../../deployments/active.ts';
import { GatewayError } from '../../errors/errors.ts';
import type { Account, PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import type { Target, TelegramApi, TelegramBot } from './api.ts';
import type { BlockedChats } from './blocked-chats.ts';
import type { TelegramChat } from './chat.ts';
import { type Commands, SENTENCES, sentenceOf } from './commands.ts';
import type { TelegramConnector } from './connector.ts';
import { isTelegramError, TelegramError } from './error.ts';
import type { Inbox, TakenUpdate } from './inbox.ts';
import { FIRST_PAUSE_MS, MAX_ATTEMPTS, MAX_PAUSE_MS, pauseAfter } from './pauses.ts';
import type { HandlePress } from './press.ts';
import type { TellOutcome } from './tell-outcome.ts';
import { readToken, telegramOf } from './token.ts';

/** Handles one update, and marks it as done or returns it to the queue. Does not reject. */
export type HandleUpdate = (update: TakenUpdate, signal: AbortSignal) => Promise<void>;

/** The deployment that answers an update. */
type Answering = {
  deployment: RunningDeployment;
  account: Account;
  bot: TelegramBot;
  target: Target;
};

/** Runs that fail before the user is asked to try again. */
const MAX_FAILED_RUNS = 3;
/** After a longer wait for a limit of the account, the user is asked to try again later. */
const MAX_LIMIT_S = 120;

export function createHandleUpdate({
  prisma,
  api,
  activeDeployments,
  inbox,
  chat,
  commands,
  tellOutcome,
  press,
  blockedChats,
  connector,
  log,
}: {
  prisma: PrismaClient;
  api: TelegramApi;
  activeDeployments: Pick<ActiveDeployments, 'loadAll'>;
  inbox: Inbox;
  chat: TelegramChat;
  commands: Commands;
  tellOutcome: TellOutcome;
  press: HandlePress;
  blockedChats: BlockedChats;
  connector: Pick<TelegramConnector, 'revoked'>;
  log: Log;
}): HandleUpdate {
  /** @returns `undefined` if the channel is not connected. */
  const findAnswering = async (
    update: TakenUpdate,
  ): Promise<Answering | 'suspended' | undefined> => {
    const { botId, environment, telegramBotId, message } = update;
    const state = await prisma.channelState.findFirst({
      where: {
        channel: 'TELEGRAM',
        botId,
        environment,
        externalId: telegramBotId,
        status: 'CONNECTED',
      },
      include: { deployment: { select: { bot: { select: { account: true } } } } },
    });
    if (state === null) return undefined;
    if (state.deployment.bot.account.suspendedAt !== null) return 'suspended';
    const { deploymentId } = state;
    const deployment = (await activeDeployments.loadAll([deploymentId])).get(deploymentId);
    const channel = deployment && telegramOf(deployment.definition);
    const read = channel && readToken(channel, deployment.variables);
    if (!read || 'problem' in read) return undefined;
    const { chatId, topicId, replyTo } = message;
    const target = { chatId, topicId, replyTo };
    return { deployment, account: state.deployment.bot.account, bot: api.of(read.token), target };
  };

  const answer = async (update: TakenUpdate, parts: Answering, signal: AbortSignal) => {
    const { request, chatId } = update.message;
    const { deploymentId, definition } = parts.deployment;
    const { telegramBotId, botId } = update;
    if (request.kind === 'press') return press(request, update, parts, signal);
    if (request.kind === 'outcome') return tellOutcome(request.runId, update, parts, signal);
    await blockedChats.remove({ telegramBotId, botId, deploymentId, chatId });
    switch (request.kind) {
      case 'text':
        return chat(update, { ...parts, text: request.text }, signal);
      case 'command':
        return commands(request.command, update, { ...parts, definition }, signal);
      case 'unsupported':
        if (await inbox.isInAlbum(update)) return;
        await parts.bot.send(parts.target, sentenceOf(SENTENCES.textOnly), signal);
    }
  };

  const apologize = async (
    update: TakenUpdate,
    { bot, target }: Answering,
    signal: AbortSignal,
  ) => {
    await bot.send(target, sentenceOf(SENTENCES.failed), signal);
    await inbox.done(update);
  };

  /** Repeats a failed attempt later, apologizes or gives up. @throws TelegramError if the apology cannot be sent. */
  const recover = async (
    error: unknown,
    update: TakenUpdate,
    parts: Answering,
    signal: AbortSignal,
  ): Promise<void> => {
    const { attempts, telegramBotId, botId } = update;
    const pauseMs = pauseAfter(attempts);
    const { deploymentId } = parts.deployment;
    if (signal.aborted) return inbox.postpone(update, 0);
    if (isTelegramError(error, 'unauthorized')) {
      await connector.revoked(deploymentId);
      return inbox.postpone(update, MAX_PAUSE_MS);
    }
    if (isTelegramError(error, 'blocked')) {
      const { chatId } = update.message;
      await blockedChats.add({ telegramBotId, botId, deploymentId, chatId });
      return inbox.done(update);
    }
    if (isTelegramError(error, 'unreachable', 'too-many'))
      return inbox.postpone(update, Math.max((error.retryAfterS ?? 0) * 1_000, pauseMs));
    if (error instanceof TelegramError && attempts >= MAX_FAILED_RUNS) {
      log.error({ err: error, bot: botId }, 'Telegram rejects an answer, which is dropped.');
      return inbox.done(update);
    }
    if (error instanceof TelegramError) return inbox.postpone(update, pauseMs);
    if (error instanceof GatewayError) {
      const { code, retryAfter = 0 } = error;
      if (code === 'rate_limit_exceeded' && retryAfter <= MAX_LIMIT_S)
        return inbox.postpone(update, Math.max(retryAfter * 1_000, FIRST_PAUSE_MS));
      const isTemporary = ['session_busy', 'interrupted', 'internal_error'].includes(code);
      const max = isTemporary ? MAX_ATTEMPTS : MAX_FAILED_RUNS;
      if (code !== 'rate_limit_exceeded' && attempts < max) return inbox.postpone(update, pauseMs);
      return apologize(update, parts, signal);
    }
    const { updateId } = update;
    const fields = { err: error, bot: botId, update: String(updateId), attempts };
    log.error(fields, 'A Telegram update could not be handled. It will be retried.');
    if (attempts < MAX_ATTEMPTS) return inbox.postpone(update, pauseMs);
    return apologize(update, parts, signal);
  };

  return async (update, signal) => {
    try {
      const parts = await findAnswering(update);
      if (parts === 'suspended') return await inbox.done(update);
      // A deploy has replaced the deployment since the update was taken.
      if (!parts) return await inbox.postpone(update, pauseAfter(update.attempts));
      try {
        await answer(update, parts, signal);
        await inbox.done(update);
      } catch (error) {
        await recover(error, update, parts, signal).catch((failure: unknown) => {
          if (!(failure instanceof TelegramError)) throw failure;
          return recover(failure, update, parts, signal);
        });
      }
    } catch (err) {
      const { botId, updateId } = update;
      const fields = { err, bot: botId, update: String(updateId) };
      log.error(fields, 'A Telegram update could not be handled. It will be retried.');
      await inbox.postpone(update, MAX_PAUSE_MS).catch(() => {});
    }
  };
}
