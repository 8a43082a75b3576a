import type { Caller } from '../../accounts/caller.ts';
import { visibleInList } from '../../bots/visible-bots.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { countedRuns, coverage } from './totals.ts';

/** Runs, and the prompt and completion tokens that they used together. */
export type Consumption = { requests: number; tokens: number };

/**
 * The consumption of the runs that the caller's key may see, read from totals, and the tokens of its evaluations. Deleted
 * runs and evaluations do not count.
 */
export type Usage = {
  total: Consumption;
  byBot: (Consumption & { botId: string })[];
  /** By the key that requested the run or the evaluation. */
  byKey: (Consumption & { keyId: string })[];
};

export type RunUsage = {
  /** Sums up the runs and evaluations that were created since the start of the current UTC month, largest consumption first. */
  ofMonth(caller: Caller): Promise<Usage>;
};

type Row = Consumption & { botId: string | null; keyId: string | null };

export function createRunUsage({
  prisma,
  now = Date.now,
}: {
  prisma: PrismaClient;
  now?: (() => number) | undefined;
}): RunUsage {
  return {
    async ofMonth(caller) {
      const date = new Date(now());
      date.setUTCDate(1);
      const from = date.setUTCHours(0, 0, 0, 0);
      const month = { from, to: Number.POSITIVE_INFINITY };
      const visible = Prisma.join(visibleInList(caller), ' AND ');
      const rows = await prisma.$queryRaw<Row[]>`
        SELECT id AS "botId", key_id AS "keyId", sum(runs)::float8 AS requests,
          COALESCE(sum(tokens), 0)::float8 AS tokens
        FROM (${coverage(month)}) AS covered, (SELECT id FROM bots WHERE ${visible}) AS owner,
          LATERAL (
            SELECT key_id, runs, tokens FROM (${countedRuns(month)}) AS counted
            UNION ALL
            SELECT key_id, 0, prompt_tokens + completion_tokens FROM evaluations
            WHERE bot_id = owner.id AND created_at >= ${date}::timestamptz
          ) AS used
        GROUP BY GROUPING SETS ((), (id), (key_id))
        HAVING (grouping(key_id) = 1 OR key_id IS NOT NULL) AND (sum(runs) > 0 OR sum(tokens) > 0)
        ORDER BY tokens DESC, requests DESC, id, key_id`;
      const total = rows.find(({ botId, keyId }) => botId === null && keyId === null);
      return {
        total: total ?? { requests: 0, tokens: 0 },
        byBot: rows.flatMap(({ botId, ...row }) => (botId === null ? [] : [{ ...row, botId }])),
        byKey: rows.flatMap(({ keyId, ...row }) => (keyId === null ? [] : [{ ...row, keyId }])),
      };
    },
  };
}
