import {
  BotList,
  type BotListQuery,
  CreateBot,
  DeleteBot,
  RenameBot,
} from '../../generated/operations/command.ts';
import type { Context } from '../context.ts';
import { Refusal, UsageError } from '../errors.ts';
import { connect } from '../server/connection.ts';
import { openPrompts } from '../terminal/prompts.ts';
import { textTable } from '../terminal/text-table.ts';
import { localTime } from '../terminal/units.ts';

/** Lists all bots that the key may see. */
export async function listBots(context: Context): Promise<void> {
  const { signal, terminal, print } = context;
  const { graphql, target } = await connect(context);
  const bots: BotListQuery['bots']['edges'][number]['node'][] = [];
  for (let after: string | null = null, isLast = false; !isLast; ) {
    const { bots: page }: BotListQuery = await graphql.run(BotList, { first: 100, after }, signal);
    bots.push(...page.edges.map(({ node }) => node));
    after = page.pageInfo.endCursor;
    isLast = !page.pageInfo.hasNextPage;
  }
  await print(bots, () =>
    bots.length === 0
      ? 'There are no bots. Create one: parley bots create ID'
      : textTable(
          [
            { title: 'ID', paint: terminal.style.bold },
            { title: 'NAME' },
            { title: 'PRODUCTION' },
            { title: 'STAGING' },
            { title: 'CREATED' },
            { title: '' },
          ],
          bots.map(({ id, name, production, staging, createdAt }) => [
            id,
            name,
            localTime(production?.deployedAt) || '-',
            localTime(staging?.deployedAt) || '-',
            localTime(createdAt),
            id === target.bot ? 'default' : '',
          ]),
          terminal,
        ),
  );
}

export async function createBot(
  id: string,
  { name }: { name: string | undefined },
  context: Context,
): Promise<void> {
  const { graphql } = await connect(context);
  const input = { id, name: name ?? id };
  const { createBot: bot } = await graphql.run(CreateBot, { input }, context.signal);
  await context.print(
    bot,
    () => `Created the bot "${id}". Deploy a definition: parley deploy FILE --bot ${id}`,
  );
}

export async function renameBot(id: string, name: string, context: Context): Promise<void> {
  const { graphql, forBot } = await connect(context);
  const { updateBot } = await forBot(id, () =>
    graphql.run(RenameBot, { id, name }, context.signal),
  );
  await context.print(updateBot, () => `The bot "${id}" is now named "${name}".`);
}

/** Deletes a bot after the user typed its ID, or with `yes`. */
export async function deleteBot(id: string, { yes }: { yes: boolean }, context: Context) {
  const { terminal, signal, print } = context;
  const { graphql, forBot } = await connect(context);
  if (!yes) {
    if (!terminal.canAsk)
      throw new UsageError(
        'Deleting a bot deletes its deployments, conversations and runs. Without a terminal, add --yes.',
      );
    const { line } = await openPrompts(terminal);
    const typed = await line(
      `This deletes "${id}" with its deployments, conversations and runs. Type its ID to confirm.`,
    );
    if (typed.trim() !== id) throw new Refusal('That is not its ID. Nothing was deleted.');
  }
  await forBot(id, () => graphql.run(DeleteBot, { id }, signal));
  await print({ id, deleted: true }, () => `Deleted the bot "${id}".`);
}
