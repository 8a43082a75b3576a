import { text } from 'node:stream/consumers';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import type { Context } from '../context.ts';
import { STDIN } from '../definitions/source-file.ts';
import { UsageError } from '../errors.ts';
import { connect } from '../server/connection.ts';
import { printReply } from './reply.ts';

export type ExecuteOptions = {
  bot: string | undefined;
  environment: EnvironmentName | undefined;
  prompt: string | undefined;
  background: boolean;
  whole: boolean;
};

/** Runs one prompt without a conversation, and prints the reply, or the run's ID with `background`. */
export async function execute(options: ExecuteOptions, context: Context): Promise<void> {
  const { terminal, print } = context;
  const { parley, botId: botOf, forBot } = await connect(context);
  const botId = botOf(options.bot);
  const prompt = options.prompt === STDIN ? await text(terminal.stdin) : options.prompt;
  if (!prompt?.trim())
    throw new UsageError('There is no prompt. Add --prompt TEXT, or --prompt - to read stdin.');
  const input = { prompt, environment: options.environment };
  await forBot(botId, async () => {
    if (options.background) {
      const { id } = await parley.execute(botId, { ...input, background: true });
      await print({ runId: id, status: 'queued' }, () => id);
      terminal.progress(`The run is queued. See it: parley run ${id}`);
      return;
    }
    if (!options.whole) return printReply(parley.executeStream(botId, input), context);
    const reply = await parley.execute(botId, input);
    await print(reply, () => reply.response);
  });
}
