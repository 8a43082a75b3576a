import type { Run } from '../../client/index.ts';
import type { Context } from '../context.ts';
import { connect } from '../server/connection.ts';
import type { RunFilter } from './filters.ts';
import { runTable } from './run-table.ts';

export type ListOptions = { bot: string | undefined; filter: RunFilter; limit: number };

/** Lists the latest runs of a bot. */
export async function listRuns(
  { bot, filter, limit }: ListOptions,
  context: Context,
): Promise<void> {
  const { terminal, print } = context;
  const { parley, botId, forBot } = await connect(context);
  const id = botId(bot);
  const runs = await forBot(id, async () => {
    const all: Run[] = [];
    for await (const run of parley.runs(id, { ...filter, limit: Math.min(limit, 100) })) {
      all.push(run);
      if (all.length >= limit) break;
    }
    return all;
  });
  await print(runs, () =>
    runs.length === 0 ? `${id} has no such runs.` : runTable(runs, terminal),
  );
}
