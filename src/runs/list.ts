import {
  Channel,
  Environment,
  Prisma,
  type PrismaClient,
  RunKind,
  RunStatus,
} from '../generated/prisma/client.ts';
import type { PageQuery, Standing } from '../storage/keyset.ts';
import { firstRows, type Lists, NEWEST_FIRST, orderBy, readLists } from '../storage/lists.ts';
import { boundsOf, matches, matchesEnums, matchesRest, type RunFilter } from './filter.ts';
import { levelsFrom } from './levels.ts';
import { createTextSearch } from './text-search.ts';

/** Lists the runs of bots. */
export type RunList = {
  /**
   * Reads one page per bot. The cost depends on the page's size only, not on how rare the matching runs are, for each
   * field of the filter alone.
   *
   * @throws GatewayError `invalid_request` for a text search of several bots.
   */
  find(botIds: string[], filter: RunFilter, page: PageQuery): Promise<Standing[]>;
  /** Whether a run belongs to the bot and matches the filter. */
  has(botId: string, filter: RunFilter, runId: string): Promise<boolean>;
};

/** Runs per bot, newest first. */
export const RUNS: Lists = {
  ...NEWEST_FIRST,
  table: Prisma.sql`runs`,
  owner: Prisma.sql`bot_id`,
};

export function createRunList({ prisma }: { prisma: PrismaClient }): RunList {
  const search = createTextSearch({ prisma, lists: RUNS });
  return {
    find(botIds, filter, page) {
      const within = { ...page, bounds: [...page.bounds, ...boundsOf(filter)] };
      const conditions = matchesRest(filter);
      if (filter.text != null)
        return search(botIds, filter.text, within, [...matchesEnums(filter), ...conditions]);
      const branches = branchesOf(filter);
      if (branches === undefined) return readLists(prisma, RUNS, botIds, within, conditions);
      const rows = Prisma.sql`
        SELECT run.* FROM ${branches.rows}
        CROSS JOIN LATERAL (${firstRows(RUNS, within, [...branches.same, ...conditions])}) AS run
        ORDER BY ${orderBy(page.direction)} LIMIT ${page.take}`;
      return readLists(prisma, RUNS, botIds, within, [], rows);
    },

    async has(botId, filter, id) {
      const conditions = [
        Prisma.sql`id = ${id}`,
        Prisma.sql`bot_id = ${botId}`,
        ...matches(filter),
      ];
      const found = await prisma.$queryRaw<unknown[]>`
        SELECT 1 FROM runs WHERE ${Prisma.join(conditions, ' AND ')}`;
      return found.length > 0;
    },
  };
}

/** Values of columns. Each is one index range in list order, and a page merges their first rows. */
type Branches = {
  rows: Prisma.Sql;
  /** The conditions that a run of a branch meets. */
  same: Prisma.Sql[];
};

/**
 * The branches of a filter, so that the database never scans runs that do not match, which may be nearly all of a
 * million. None if it selects by time only: then the matching runs are one range of an index.
 */
function branchesOf(filter: RunFilter): Branches | undefined {
  const { user, kind, environment, channel, status, deploymentId, model, errorCode } = filter;
  const { minLatencyMs, minTokens } = filter;
  if (user == null && errorCode == null) {
    if (minLatencyMs != null) return levels(LATENCY, minLatencyMs, filter);
    if (minTokens != null) return levels(TOKENS, minTokens, filter);
  }
  const limits = [user, kind, environment, channel, status, deploymentId, model, errorCode];
  if (limits.every((limit) => limit == null)) return undefined;
  return errorCode ? ofErrors(filter, errorCode) : ofEnums(filter);
}

const LATENCY = Prisma.sql`run_level(latency_ms)`;
const TOKENS = Prisma.sql`run_level(prompt_tokens::bigint + completion_tokens)`;
/** Part of the index's predicate. */
const HAS_TOKENS = Prisma.sql`prompt_tokens::bigint + completion_tokens > 0`;

/** One branch for each level of a number, 153 at most. The enumerations are in the entries of their indexes. */
function levels(level: Prisma.Sql, least: number, filter: RunFilter): Branches {
  return {
    rows: Prisma.sql`unnest(${levelsFrom(least)}::bigint[]) AS branch(level)`,
    same: [
      Prisma.sql`${level} = branch.level`,
      ...(level === TOKENS ? [HAS_TOKENS] : []),
      ...matchesEnums(filter),
    ],
  };
}

/** One branch for each combination of kind, environment, channel and status, 60 at most. */
function ofEnums(filter: RunFilter): Branches {
  const branches = combinations(filter);
  // One `unnest` for all columns: with one per column, the planner overestimates the rows and JIT-compiles the query.
  return {
    rows: Prisma.sql`unnest(${columnsOf(branches)}) AS branch(kind, environment, channel, status)`,
    same: SAME_ENUMS,
  };
}

/** As `ofEnums`, for each error code. Only failed runs have one. */
function ofErrors(filter: RunFilter, errorCodes: readonly string[]): Branches {
  const failed = filter.status?.includes('FAILED') ?? true;
  const branches = combinations({ ...filter, status: failed ? ['FAILED'] : [] }).flatMap((branch) =>
    [...new Set(errorCodes)].map((errorCode) => ({ ...branch, errorCode })),
  );
  const codes = branches.map(({ errorCode }) => errorCode);
  return {
    rows: Prisma.sql`
      unnest(${columnsOf(branches)}, ${codes}::text[]) AS branch(kind, environment, channel, status, error)`,
    same: [...SAME_ENUMS, Prisma.sql`runs.error_code = branch.error`],
  };
}

type Branch = {
  kind: RunKind;
  environment: Environment;
  channel: Channel;
  status: RunStatus;
};

function combinations({ kind, environment, channel, status }: RunFilter): Branch[] {
  return (kind ? [kind] : Object.values(RunKind)).flatMap((kind) =>
    (environment ? [environment] : Object.values(Environment)).flatMap((environment) =>
      [...new Set(channel ?? Object.values(Channel))].flatMap((channel) =>
        [...new Set(status ?? Object.values(RunStatus))].map((status) => ({
          kind,
          environment,
          channel,
          status,
        })),
      ),
    ),
  );
}

function columnsOf(branches: Branch[]): Prisma.Sql {
  return Prisma.sql`
    ${branches.map(({ kind }) => kind)}::text[]::"RunKind"[],
    ${branches.map(({ environment }) => environment)}::text[]::"Environment"[],
    ${branches.map(({ channel }) => channel)}::text[]::"Channel"[],
    ${branches.map(({ status }) => status)}::text[]::"RunStatus"[]`;
}

const SAME_ENUMS = [
  Prisma.sql`runs.kind = branch.kind`,
  Prisma.sql`runs.environment = branch.environment`,
  Prisma.sql`runs.channel = branch.channel`,
  Prisma.sql`runs.status = branch.status`,
];
