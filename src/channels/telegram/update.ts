import { z } from 'zod';
import { channelSessionId } from '../../sessions/channel-ids.ts';
import { toStorable } from '../../text/characters.ts';

/** The request of a message to the bot. */
export type Request =
  | { kind: 'text'; text: string }
  /** A photo, a voice message, or another message that is not text. */
  | { kind: 'unsupported' }
  | { kind: 'command'; command: Command }
  /** Not a message of the user: the run that tells the outcome of an approval has ended. See `outcomes.ts`. */
  | { kind: 'outcome'; runId: string }
  /** A press of a button below a message about an approval. `data` is not checked. */
  | { kind: 'press'; pressId: string; data: string; messageId: number };

export type Command = (typeof COMMANDS)[number];

/** The commands that Parley handles itself. The agent gets every other text. */
export const COMMANDS = ['start', 'new', 'forget', 'stop'] as const;

/** A message to the bot. It is stored as JSON, with no more of the update than is needed to answer. */
export type IncomingMessage = {
  chatId: number;
  /** Set in a group: the message to reply to. */
  replyTo?: number | undefined;
  /** The topic of a forum. */
  topicId?: number | undefined;
  request: Request;
};

/** An update that the bot answers. */
export type IncomingUpdate = {
  updateId: number;
  sessionId: string;
  /** The id of the album that the message is a part of. */
  album?: string | undefined;
  message: IncomingMessage;
};

const entity = z.object({
  type: z.string(),
  offset: z.int(),
  length: z.int(),
  user: z.object({ id: z.int() }).optional(),
});

/** The parts of Telegram's objects that are read. Telegram's ids fit in 52 bits; others are no ids of Telegram. */
const update = z.object({
  update_id: z.int().min(0),
  message: z.object({
    message_id: z.int(),
    message_thread_id: z.int().optional(),
    is_topic_message: z.boolean().optional(),
    media_group_id: z.string().optional(),
    from: z.object({ id: z.int(), is_bot: z.boolean() }),
    chat: z.object({ id: z.int(), type: z.enum(['private', 'group', 'supergroup']) }),
    text: z.string().optional(),
    entities: z.array(entity).optional(),
    caption: z.string().optional(),
    caption_entities: z.array(entity).optional(),
    reply_to_message: z.object({ from: z.object({ id: z.int() }).optional() }).optional(),
  }),
});

/** A press of a button. Its message may be too old to be read, but always has its id and chat. */
const press = z.object({
  update_id: z.int().min(0),
  callback_query: z.object({
    id: z.string().max(64),
    from: z.object({ is_bot: z.literal(false) }),
    message: z.object({ message_id: z.int(), chat: z.object({ id: z.int() }) }),
    data: z.string().max(64),
  }),
});

/** The messages of people that are not text. All others without a text are notices, such as of a pinned message. */
const CONTENTS = [
  ...['animation', 'audio', 'document', 'paid_media', 'photo', 'sticker', 'story', 'video'],
  ...['video_note', 'voice', 'checklist', 'contact', 'dice', 'game', 'poll', 'venue', 'location'],
];

type Entity = z.output<typeof entity>;

/** Entities of a message that are read. Telegram sends no more: the owner of a bot may send updates too. */
const MAX_ENTITIES = 100;
/** Characters of a mention, or of a command with its bot. Telegram's names have 32 at most. */
const MAX_MENTION = 100;

/** A Telegram bot. */
export type Addressee = { id: string; name: string };

/**
 * Reads an update.
 *
 * @param bot the bot that received it. In groups, only messages to it are answered.
 * @returns `undefined` for an update that needs no answer, or that is malformed.
 */
export function readUpdate(input: unknown, bot: Addressee): IncomingUpdate | undefined {
  const pressed = press.safeParse(input).data;
  if (pressed) return readPress(pressed);
  const { data } = update.safeParse(input);
  if (!data || data.message.from.is_bot) return undefined;
  const { update_id: updateId, message } = data;
  const isUnsupported = message.text === undefined && hasContent(input);
  if (message.text === undefined && !isUnsupported) return undefined;
  const { chat, from } = message;
  const isGroup = chat.type !== 'private';
  const text = message.text ?? message.caption ?? '';
  const entities = (message.entities ?? message.caption_entities ?? []).slice(0, MAX_ENTITIES);
  const command = isUnsupported ? undefined : readCommand(text, bot);
  if (command === 'of another bot') return undefined;
  const mentions = entities.filter((one) => isMention(one, text, bot));
  const isReply = String(message.reply_to_message?.from?.id) === bot.id;
  if (isGroup && !command && mentions.length === 0 && !isReply) return undefined;
  return {
    updateId,
    sessionId: isGroup
      ? channelSessionId('TELEGRAM', String(chat.id), String(from.id))
      : channelSessionId('TELEGRAM', String(chat.id)),
    album: message.media_group_id,
    message: {
      chatId: chat.id,
      ...(isGroup && { replyTo: message.message_id }),
      ...(message.is_topic_message && { topicId: message.message_thread_id }),
      request: isUnsupported
        ? { kind: 'unsupported' }
        : (requestOf(command) ?? readText(text, isGroup ? mentions : [])),
    },
  };
}

function readPress({
  update_id: updateId,
  callback_query: query,
}: z.output<typeof press>): IncomingUpdate {
  const { id: pressId, data, message } = query;
  const chatId = message.chat.id;
  return {
    updateId,
    sessionId: channelSessionId('TELEGRAM', String(chatId)),
    message: { chatId, request: { kind: 'press', pressId, data, messageId: message.message_id } },
  };
}

function hasContent(input: unknown): boolean {
  const { message } = z.object({ message: z.record(z.string(), z.unknown()) }).parse(input);
  return CONTENTS.some((name) => name in message);
}

/** A command is the first word of a message. In groups, it may name its bot: `/start@shop_bot`. */
function readCommand(text: string, bot: Addressee): Command | 'of another bot' | undefined {
  const [, name = '', addressee] = /^\/(\w{1,32})(?:@(\w+))?(?!\S)/.exec(text) ?? [];
  if (addressee && addressee.toLowerCase() !== bot.name.toLowerCase()) return 'of another bot';
  return COMMANDS.find((command) => command === name.toLowerCase());
}

function requestOf(command: Command | undefined): Request | undefined {
  return command && { kind: 'command', command };
}

function isMention({ type, offset, length, user }: Entity, text: string, bot: Addressee): boolean {
  if (type === 'text_mention') return String(user?.id) === bot.id;
  if (length > MAX_MENTION) return false;
  const mentioned = text.slice(offset, offset + length).toLowerCase();
  const name = `@${bot.name.toLowerCase()}`;
  // A command that the agent handles, such as `/help@shop_bot`.
  if (type === 'bot_command') return mentioned.endsWith(name);
  return type === 'mention' && mentioned === name;
}

/** The text without the mentions of the bot. If nothing is left, the user greets the bot. */
function readText(text: string, mentions: readonly Entity[]): Request {
  let rest = text;
  for (const { type, offset, length } of mentions.toReversed()) {
    if (type === 'mention') rest = rest.slice(0, offset) + rest.slice(offset + length);
  }
  const message = toStorable(rest).trim();
  return message === '' ? { kind: 'command', command: 'start' } : { kind: 'text', text: message };
}
