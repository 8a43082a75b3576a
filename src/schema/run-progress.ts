import { Prisma } from '../generated/prisma/client.ts';
import { batchLoader } from './batch-loader.ts';
import { readWithin } from './long-columns.ts';
import type { Demand } from './read-budget.ts';

/**
 * Loads the text that the current attempts at active runs have stored so far; null if none is stored.
 *
 * @throws GatewayError `request_too_large` beyond the read budget.
 */
export const loadProgress = batchLoader(
  async (runIds, { copies }: Demand, context, { timesOf }) => {
    const times = runIds.map(timesOf);
    const rows = Prisma.sql`
      SELECT run_id AS id, string_agg(run_progress.response, '' ORDER BY from_seq) AS text,
        sum(octet_length(run_progress.response)) * ${copies}::float8 * times AS bytes
      FROM unnest(${runIds}::text[], ${times}::int[]) AS run(id, times) JOIN runs USING (id)
        JOIN run_progress ON run_id = runs.id AND run_progress.attempt = runs.attempt
      GROUP BY run_id, times`;
    const budget = context.readBudget();
    const found = await budget.inTurn(() =>
      readWithin<{ id: string; text: string }>(context, budget, rows),
    );
    const byId = new Map(found.map(({ id, text }) => [id, text]));
    return (id) => byId.get(id) ?? null;
  },
);
