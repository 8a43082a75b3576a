import type { Api, GrammyError } from 'grammy';
import type { InlineKeyboardMarkup, ReplyKeyboardMarkup, ReplyKeyboardRemove } from 'grammy/types';
import { startDeadline } from '../../async/deadline.ts';
import { isTelegramError, TelegramError } from './error.ts';

/** Telegram's own Bot API server. */
export const TELEGRAM_API_ROOT = 'https://api.telegram.org';

/** A chat, or a topic of a forum, to which the bot sends messages. */
export type Target = {
  chatId: number;
  topicId?: number | undefined;
  /** The message that the bot replies to. */
  replyTo?: number | undefined;
};

/** A text in Telegram's HTML, at most 4,096 characters after its entities are parsed. */
export type Html = { html: string; plain: string };

export type Keyboard = ReplyKeyboardMarkup | ReplyKeyboardRemove | InlineKeyboardMarkup;

/** The calls to the Bot API for one bot. Each throws `TelegramError`, or the reason of the signal. */
export type TelegramBot = {
  getMe(signal: AbortSignal): Promise<{ id: string; name: string }>;
  /** Replaces the webhook, and with it any webhook of another server. */
  setWebhook(url: string, secret: string, signal: AbortSignal): Promise<void>;
  deleteWebhook(signal: AbortSignal): Promise<void>;
  /** Waits up to `waitS` seconds for updates. */
  getUpdates(offset: number | undefined, waitS: number, signal: AbortSignal): Promise<unknown[]>;
  /** @returns the id of the message. */
  send(target: Target, text: Html, signal: AbortSignal, keyboard?: Keyboard): Promise<number>;
  /** Also removes the buttons of the message. */
  edit(target: Target, messageId: number, text: Html, signal: AbortSignal): Promise<void>;
  remove(target: Target, messageId: number, signal: AbortSignal): Promise<void>;
  /** Answers a press of a button with a short text, so that it no longer seems to be in progress. */
  answerPress(pressId: string, text: string, signal: AbortSignal): Promise<void>;
  /** Shows that the bot is typing, for 5 seconds or until its next message. */
  type(target: Target, signal: AbortSignal): Promise<void>;
};

export type TelegramApi = {
  /** @param token of the bot. It is in no error. */
  of(token: string): TelegramBot;
};

const CALL_MS = 6_000;
const ALLOWED_UPDATES = ['message', 'callback_query'] as const;

/** @param apiRoot base URL of the Bot API server, without a trailing slash. It is the operator's, so it may be private. */
export function createTelegramApi({
  apiRoot = TELEGRAM_API_ROOT,
}: {
  apiRoot?: string | undefined;
}): TelegramApi {
  return {
    of(token) {
      const call = async <Result>(
        work: (api: Api, signal: NonNullable<Parameters<Api['getMe']>[0]>) => Promise<Result>,
        signal: AbortSignal,
        limitMs = CALL_MS,
      ): Promise<Result> => {
        // Loaded here, because most servers have no bot of Telegram.
        const { Api, GrammyError } = await import('grammy');
        signal.throwIfAborted();
        using limited = startDeadline(limitMs, { signal });
        try {
          // grammY's own type of signals lacks some members of Node's.
          const limit = limited.signal as Parameters<typeof work>[1];
          return await work(new Api(token, { apiRoot }), limit);
        } catch (error) {
          signal.throwIfAborted();
          throw error instanceof GrammyError
            ? toTelegramError(error)
            : new TelegramError('unreachable');
        }
      };

      /** Sends the text in HTML, or as it is if Telegram does not accept it. */
      const inHtml = async <Result>(
        text: Html,
        work: (text: string, mode: { parse_mode?: 'HTML' }) => Promise<Result>,
      ) => {
        try {
          return await work(text.html, { parse_mode: 'HTML' });
        } catch (error) {
          if (isTelegramError(error, 'unparsable', 'rejected')) return work(text.plain, {});
          throw error;
        }
      };

      return {
        async getMe(signal) {
          const { id, username } = await call((api, s) => api.getMe(s), signal);
          return { id: String(id), name: username };
        },
        async setWebhook(url, secret, signal) {
          const options = { secret_token: secret, allowed_updates: ALLOWED_UPDATES };
          await call((api, s) => api.setWebhook(url, options, s), signal);
        },
        async deleteWebhook(signal) {
          await call((api, s) => api.deleteWebhook({}, s), signal);
        },
        getUpdates(offset, waitS, signal) {
          const options = { offset, timeout: waitS, allowed_updates: ALLOWED_UPDATES };
          return call((api, s) => api.getUpdates(options, s), signal, waitS * 1_000 + CALL_MS);
        },
        send: ({ chatId, topicId, replyTo }, text, signal, keyboard) =>
          inHtml(text, async (body, mode) => {
            const options = {
              ...mode,
              link_preview_options: { is_disabled: true },
              ...(topicId !== undefined && { message_thread_id: topicId }),
              ...(replyTo !== undefined && {
                reply_parameters: { message_id: replyTo, allow_sending_without_reply: true },
              }),
              ...(keyboard && { reply_markup: keyboard }),
            };
            const sent = await call((api, s) => api.sendMessage(chatId, body, options, s), signal);
            return sent.message_id;
          }),
        async edit({ chatId }, messageId, text, signal) {
          await inHtml(text, async (body, mode) => {
            const options = { ...mode, link_preview_options: { is_disabled: true } };
            await call(
              (api, s) => api.editMessageText(chatId, messageId, body, options, s),
              signal,
            );
          }).catch((error: unknown) => {
            if (!isTelegramError(error, 'unchanged')) throw error;
          });
        },
        async answerPress(pressId, text, signal) {
          await call((api, s) => api.answerCallbackQuery(pressId, { text }, s), signal);
        },
        async remove({ chatId }, messageId, signal) {
          await call((api, s) => api.deleteMessage(chatId, messageId, s), signal);
        },
        async type({ chatId, topicId }, signal) {
          const options = topicId === undefined ? {} : { message_thread_id: topicId };
          await call((api, s) => api.sendChatAction(chatId, 'typing', options, s), signal);
        },
      };
    },
  };
}

/** Telegram's answers with the status 400 for a chat that is gone, or in which the bot may not write. */
const CHAT_IS_CLOSED =
  /(chat|user) not found|PEER_ID_INVALID|chat was (upgraded|deactivated|deleted)|blocked|kicked|deactivated|rights to send|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED/i;

/** The error without the request, whose address contains the token. */
function toTelegramError({
  error_code: code,
  description,
  parameters,
}: GrammyError): TelegramError {
  const retryAfter = parameters.retry_after;
  if (code === 429) return new TelegramError('too-many', { retryAfterS: retryAfter ?? 1 });
  // A token that is not even well-formed makes the path unknown.
  if (code === 401 || code === 404) return new TelegramError('unauthorized');
  if (code === 409) return new TelegramError('conflict');
  if (code === 403) return new TelegramError('blocked');
  if (code !== 400) return new TelegramError('unreachable');
  if (/not modified/i.test(description)) return new TelegramError('unchanged');
  if (/can't parse entities|too long/i.test(description)) return new TelegramError('unparsable');
  if (/message (to edit|to delete|can't be)|MESSAGE_ID_INVALID/i.test(description))
    return new TelegramError('message-gone');
  if (CHAT_IS_CLOSED.test(description)) return new TelegramError('blocked');
  return new TelegramError('rejected', { description });
}
