import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { connect } from '../server/connection.ts';
import { converse } from './conversation.ts';
import { printReply } from './reply.ts';

export type ChatOptions = {
  bot: string | undefined;
  environment: EnvironmentName | undefined;
  session: string | undefined;
  message: string | undefined;
  /** Whether to print the reply only when it is whole. */
  whole: boolean;
};

/** Sends one message, from `--message` or a pipe, or holds a conversation in a terminal. */
export async function chat(options: ChatOptions, context: Context): Promise<void> {
  const { terminal } = context;
  const connection = await connect(context);
  const botId = connection.botId(options.bot);
  const message =
    options.message ?? (terminal.stdin.isTTY ? undefined : await text(terminal.stdin));
  const session = options.session ?? `terminal-${randomUUID()}`;
  const base = { sessionId: session, environment: options.environment };
  if (message !== undefined) {
    if (message.trim() === '')
      throw new UsageError('The message is empty. Add --message TEXT, or pipe a text.');
    const input = { ...base, message: message.replace(/\n$/, '') };
    await sendOne(botId, input, { whole: options.whole }, connection, context);
    return;
  }
  if (!terminal.canAsk || context.json)
    throw new UsageError('There is no message. Add --message TEXT, or pipe a text.');
  await converse(botId, base, connection, context);
}

type Message = { message: string; sessionId: string; environment: EnvironmentName | undefined };

async function sendOne(
  botId: string,
  input: Message,
  { whole }: { whole: boolean },
  { parley, forBot }: Awaited<ReturnType<typeof connect>>,
  context: Context,
): Promise<void> {
  await forBot(botId, async () => {
    if (!whole) return printReply(parley.chatStream(botId, input), context);
    const reply = await parley.chat(botId, input);
    return context.print(reply, () => reply.response);
  });
}
