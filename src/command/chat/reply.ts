import type { ReplyStream } from '../../client/index.ts';
import type { Context } from '../context.ts';
import { Interrupted } from '../errors.ts';

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
      await emit({ type: 'delta', delta }, () => delta);
      end = delta.slice(-1) || end;
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
