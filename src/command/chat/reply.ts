import type { ReplyStream } from '../../client/index.ts';
import type { Context } from '../context.ts';
import { Interrupted } from '../errors.ts';
import { printable } from '../terminal/text-table.ts';

/**
 * Prints a reply while it arrives. With `--json`, each piece is a line, and the last line has the whole reply. Ctrl-C
 * stops the run on the server before the command ends.
 */
export async function printReply<Reply extends object>(
  stream: ReplyStream<Reply>,
  { terminal, json, emit, signal }: Context,
): Promise<void> {
  let end = '';
  try {
    for await (const delta of stream) {
      // A reply must not move the cursor of a terminal or change its colours.
      const text = terminal.isStdoutTerminal ? printable(delta) : delta;
      await emit({ type: 'delta', delta }, () => text);
      end = text.slice(-1) || end;
    }
  } catch (error) {
    if (!json && end !== '' && end !== '\n') await terminal.write('\n');
    if (signal.aborted) {
      await stream.abort();
      throw new Interrupted();
    }
    throw error;
  }
  if (json) await emit({ type: 'done', ...(await stream.finalReply()) }, () => '');
  else if (end !== '\n') await terminal.write('\n');
}
