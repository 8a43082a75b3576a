import { createInterface, type Interface } from 'node:readline/promises';
import { type ChatReply, RateLimitError, type ReplyStream, RunError } from '../../client/index.ts';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import type { Context } from '../context.ts';
import { Interrupted } from '../errors.ts';
import { describeError } from '../failure.ts';
import type { Connection } from '../server/connection.ts';

const PROMPT = '> ';

/**
 * Holds a conversation in the terminal. The arrow keys recall earlier messages. Ctrl-C stops the reply; a second Ctrl-C
 * leaves, and so does Ctrl-D.
 *
 * @throws Interrupted if the user left by Ctrl-C.
 */
export async function converse(
  botId: string,
  base: { sessionId: string; environment: EnvironmentName | undefined },
  { parley, forBot }: Connection,
  context: Context,
): Promise<void> {
  const { terminal, environment } = context;
  const { stdin, stderr, note, errorStyle } = terminal;
  note(errorStyle.dim(`Chat with ${botId}, session ${base.sessionId}. Ctrl-D leaves.`));
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  const end = endOf(lines);
  let stream: ReplyStream<ChatReply> | undefined;
  let isWarned = false;
  lines.on('SIGINT', () => {
    if (isWarned) return end.leave(new Interrupted());
    isWarned = true;
    if (stream) {
      void stream.abort();
      return;
    }
    lines.write(null, { ctrl: true, name: 'u' });
    note(`\n${errorStyle.dim('Press Ctrl-C again to leave.')}`);
    lines.prompt();
  });
  try {
    for (;;) {
      const message = await ask(lines, end.signal);
      if (message === undefined) break;
      isWarned = false;
      if (message.trim() === '') continue;
      stream = parley.chatStream(botId, { ...base, message });
      try {
        const reply = stream;
        await forBot(botId, () => show(reply, end.signal, context));
      } catch (error) {
        if (!(error instanceof RunError || error instanceof RateLimitError)) throw error;
        note(`${errorStyle.red('Error:')} ${describeError(error, environment)}`);
      } finally {
        stream = undefined;
      }
      if (isWarned) note(errorStyle.dim('The reply was stopped. Press Ctrl-C again to leave.'));
    }
  } finally {
    lines.close();
  }
  if (end.reason instanceof Interrupted) throw end.reason;
}

/** How the conversation ends: by Ctrl-D, which closes the input, or by Ctrl-C. */
function endOf(lines: Interface) {
  const controller = new AbortController();
  const leave = (reason?: Interrupted) => controller.abort(reason);
  lines.once('close', () => leave());
  return {
    signal: controller.signal,
    leave,
    get reason(): unknown {
      return controller.signal.reason;
    },
  };
}

/** @returns the next message; `undefined` at the end of the conversation. */
async function ask(lines: Interface, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  try {
    return await lines.question(PROMPT, { signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

async function show(
  stream: ReplyStream<ChatReply>,
  signal: AbortSignal,
  { terminal }: Context,
): Promise<void> {
  const stop = () => void stream.abort();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const delta of stream) await terminal.write(delta);
    await terminal.write('\n');
  } finally {
    signal.removeEventListener('abort', stop);
    if (signal.aborted) await stream.abort();
  }
}
