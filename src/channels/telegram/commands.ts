import type { Account, PrismaClient } from '../../generated/prisma/client.ts';
import type { Definition, Greeting } from '../../language/definition.ts';
import type { Cancel } from '../../runs/life/cancel.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { Html, Keyboard, Target, TelegramBot } from './api.ts';
import { escapeHtml } from './html.ts';
import type { TakenUpdate } from './inbox.ts';
import { MAX_LENGTH, wrap } from './split.ts';
import type { Command } from './update.ts';

/** Texts that the channel sends without a run of the agent. */
export const SENTENCES = {
  hello: 'Hello! Send me a message.',
  textOnly: 'I understand only text. Please write your message.',
  begun: 'This is a new conversation.',
  forgotten: 'I have forgotten our conversation, and all that I knew about you.',
  stopped: 'Stopped.',
  idle: 'There is nothing to stop.',
  outcomeFailed:
    'A call that waited for approval is settled, but I cannot tell you the outcome now. Please ask me about it.',
  failed: 'Sorry, I cannot answer now. Please send your message again later.',
} as const;

/** Handles the commands that Parley knows. */
export type Commands = (
  command: Command,
  update: TakenUpdate,
  parts: { bot: TelegramBot; target: Target; account: Account; definition: Definition },
  signal: AbortSignal,
) => Promise<void>;

export function createCommands({
  prisma,
  sessions,
  cancel,
}: {
  prisma: PrismaClient;
  sessions: Pick<Sessions, 'forget' | 'beginAnew'>;
  cancel: Pick<Cancel, 'cancel'>;
}): Commands {
  /** @returns whether a run was active. */
  const stop = async ({ botId, environment, sessionId, attempts, createdAt }: TakenUpdate) => {
    const ofSession = { botId, environment, sessionId, channel: 'TELEGRAM' as const };
    const active = await prisma.run.findMany({
      where: { ...ofSession, status: 'RUNNING' },
      select: { id: true },
    });
    await Promise.all(active.map(({ id }) => cancel.cancel(id)));
    if (active.length > 0 || attempts === 1) return active.length > 0;
    // An earlier attempt may have cancelled a run, and failed to send the answer.
    const cancelled = { status: 'CANCELLED' as const, finishedAt: { gte: createdAt } };
    return (await prisma.run.count({ where: { ...ofSession, ...cancelled } })) > 0;
  };

  return async (command, update, { bot, target, account, definition }, signal) => {
    const { botId, environment, sessionId } = update;
    const session = { botId, environment, sessionId };
    const say = async (text: string, keyboard?: Keyboard) => {
      for (const part of wrap(text, MAX_LENGTH))
        await bot.send(target, sentenceOf(part), signal, keyboard);
    };
    switch (command) {
      case 'start': {
        const { welcome = SENTENCES.hello, suggestions } = greetingOf(definition);
        await say(welcome, keyboardOf(suggestions, target));
        break;
      }
      case 'new':
        await sessions.beginAnew(session);
        await say(SENTENCES.begun);
        break;
      case 'forget':
        await sessions.forget(session, signal, { accountId: account.id, keyId: null });
        await say(SENTENCES.forgotten);
        break;
      case 'stop':
        await say((await stop(update)) ? SENTENCES.stopped : SENTENCES.idle);
        break;
    }
  };
}

/** The greeting of the channel, without the parts that only the web shows. */
export function greetingOf({ channels }: Pick<Definition, 'channels'>): Greeting {
  const own = channels.find(({ type }) => type === 'telegram');
  const web = channels.find(({ type }) => type === 'web');
  const welcome = own?.welcome ?? web?.welcome;
  const suggestions = own?.suggestions.length ? own.suggestions : (web?.suggestions ?? []);
  return { ...(welcome !== undefined && { welcome }), suggestions };
}

/** A plain text as a message. */
export function sentenceOf(text: string): Html {
  return { html: escapeHtml(text), plain: text };
}

function keyboardOf(suggestions: readonly string[], { replyTo }: Target): Keyboard | undefined {
  if (suggestions.length === 0) return undefined;
  return {
    keyboard: suggestions.map((text) => [{ text }]),
    resize_keyboard: true,
    one_time_keyboard: true,
    // In a group, only the person who asked sees it.
    ...(replyTo !== undefined && { selective: true }),
  };
}
