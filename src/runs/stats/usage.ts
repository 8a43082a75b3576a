import type { Caller } from '../../accounts/caller.ts';
import { visibleInList } from '../../bots/bots.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { moment } from '../../storage/moment.ts';

/** Runs, and the prompt and completion tokens that they used together. */
export type Consumption = { requests: number; tokens: number };

/** The consumption of the runs that the caller's key may see. Deleted runs do not count. */
export type Usage = {
  total: Consumption;
  byBot: (Consumption & { botId: string })[];
  /** By the key that requested the run. */
  byKey: (Consumption & { keyId: string })[];
};

export type RunUsage = {
  /** Sums up the runs that were created since the start of the current UTC month, largest consumption first. */
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
      const since = moment(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1));
      const visible = Prisma.join(visibleInList(caller), ' AND ');
      const rows = await prisma.$queryRaw<Row[]>`
        SELECT bot_id AS "botId", key_id AS "keyId", count(*)::float8 AS requests,
          COALESCE(sum(prompt_tokens::float8 + completion_tokens), 0) AS tokens
        FROM runs WHERE created_at >= ${since} AND bot_id IN (SELECT id FROM bots WHERE ${visible})
        GROUP BY GROUPING SETS ((), (bot_id), (key_id))
        HAVING grouping(key_id) = 1 OR key_id IS NOT NULL
        ORDER BY tokens DESC, requests DESC, bot_id, key_id`;
      const total = rows.find(({ botId, keyId }) => botId === null && keyId === null);
      return {
        total: total ?? { requests: 0, tokens: 0 },
        byBot: rows.flatMap(({ botId, ...row }) => (botId === null ? [] : [{ ...row, botId }])),
        byKey: rows.flatMap(({ keyId, ...row }) => (keyId === null ? [] : [{ ...row, keyId }])),
      };
    },
  };
}
