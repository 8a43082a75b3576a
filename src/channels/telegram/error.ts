/**
 * - `unauthorized`: Telegram does not accept the token.
 * - `blocked`: the user has blocked the bot, the chat is gone, or the bot may not write in it.
 * - `too-many`: the bot exceeds a limit of Telegram; `retryAfterS` says for how long.
 * - `conflict`: another program polls with the same token, or a webhook is set.
 * - `unparsable`: Telegram cannot read the HTML of the text.
 * - `rejected`: Telegram does not accept the call for another reason; `description` says why.
 * - `unchanged`: an edit does not change the message.
 * - `message-gone`: the message to change is deleted or too old.
 * - `unreachable`: no answer, or a failure of Telegram's.
 */
export type TelegramErrorKind =
  | 'unauthorized'
  | 'blocked'
  | 'too-many'
  | 'conflict'
  | 'unparsable'
  | 'rejected'
  | 'unchanged'
  | 'message-gone'
  | 'unreachable';

const MESSAGES: Record<TelegramErrorKind, string> = {
  unauthorized: 'Telegram does not accept the token.',
  blocked: 'Telegram does not deliver messages of the bot to this chat.',
  'too-many': 'The bot exceeds a limit of Telegram.',
  conflict: 'Another program receives the updates of the Telegram bot.',
  unparsable: 'Telegram cannot read the text of the message.',
  rejected: 'Telegram does not accept the call.',
  unchanged: 'The message is unchanged.',
  'message-gone': 'The message cannot be changed any more.',
  unreachable: 'Telegram could not be reached.',
};

/** A failed call to the Bot API. It contains nothing of the request, whose address holds the token. */
export class TelegramError extends Error {
  override readonly name = 'TelegramError';
  readonly kind: TelegramErrorKind;
  /** For `too-many`: seconds to wait. */
  readonly retryAfterS: number | undefined;
  /** For `rejected`: what Telegram answered. */
  readonly description: string | undefined;

  constructor(
    kind: TelegramErrorKind,
    { retryAfterS, description }: { retryAfterS?: number; description?: string } = {},
  ) {
    super(MESSAGES[kind]);
    this.kind = kind;
    this.retryAfterS = retryAfterS;
    this.description = description;
  }
}

/** Whether an error is a failed call of one of these kinds. */
export function isTelegramError(
  error: unknown,
  ...kinds: TelegramErrorKind[]
): error is TelegramError {
  return error instanceof TelegramError && kinds.includes(error.kind);
}
