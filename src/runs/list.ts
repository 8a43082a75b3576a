import {
  Channel,
  Environment,
  Prisma,
  type PrismaClient,
  RunKind,
  RunStatus,
} from '../generated/prisma/client.ts';
import type { PageQuery, Standing } from '../storage/keyset.ts';
import {
  firstRows,
  type Lists,
  NEWEST_FIRST,
  orderBy,
  readLists,
  withinBounds,
} from '../storage/lists.ts';

/** Selects the runs that match every given field. */
export type RunFilter = {
  /** A session id. */
  user?: string | null | undefined;
  /** Any of these. */
  status?: readonly RunStatus[] | null | undefined;
  /** Any of these. */
  channel?: readonly Channel[] | null | undefined;
  kind?: RunKind | null | undefined;
  environment?: Environment | null | undefined;
  deploymentId?: string | null | undefined;
  /** The UTC day of creation, `YYYY-MM-DD`. */
  date?: string | null | undefined;
  /** The earliest time of creation, inclusive. */
  from?: Date | null | undefined;
  /** The latest time of creation, exclusive. */
  to?: Date | null | undefined;
};

/** Lists the runs of bots. */
export type RunList = {
  /** Reads one page per bot. The cost depends on the page's size only, not on how rare the matching runs are. */
  find(botIds: string[], filter: RunFilter, page: PageQuery): Promise<Standing[]>;
  /** Whether a run belongs to the bot and matches the filter. */
  has(botId: string, filter: RunFilter, runId: string): Promise<boolean>;
};

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Runs per bot, newest first. */
export const RUNS: Lists = {
  ...NEWEST_FIRST,
  table: Prisma.sql`runs`,
  owner: Prisma.sql`bot_id`,
};

export function createRunList({ prisma }: { prisma: PrismaClient }): RunList {
  return {
    find(botIds, filter, page) {
      const conditions = conditionsOf(filter);
      const within = { ...page, bounds: [...page.bounds, ...daysOf(filter)] };
      if (isWhole(filter)) return readLists(prisma, RUNS, botIds, within, conditions);
      const rows = Prisma.sql`
        SELECT run.* FROM ${branchesOf(filter)}
        CROSS JOIN LATERAL (${firstRows(RUNS, within, [...SAME_BRANCH, ...conditions])}) AS run
        ORDER BY ${orderBy(page.direction)} LIMIT ${page.take}`;
      return readLists(prisma, RUNS, botIds, within, [], rows);
    },

    async has(botId, filter, id) {
      const { kind, environment, channel, status } = filter;
      const conditions = [
        Prisma.sql`id = ${id}`,
        Prisma.sql`bot_id = ${botId}`,
        ...(kind ? [Prisma.sql`kind::text = ${kind}`] : []),
        ...(environment ? [Prisma.sql`environment::text = ${environment}`] : []),
        ...(channel ? [Prisma.sql`channel::text = ANY(${[...channel]})`] : []),
        ...(status ? [Prisma.sql`status::text = ANY(${[...status]})`] : []),
        ...conditionsOf(filter),
        ...withinBounds(RUNS, daysOf(filter)),
      ];
      const found = await prisma.$queryRaw<unknown[]>`
        SELECT 1 FROM runs WHERE ${Prisma.join(conditions, ' AND ')}`;
      return found.length > 0;
    },
  };
}

/** Whether a filter selects by time only: then the matching runs are one range of an index. */
function isWhole({ user, kind, environment, channel, status, deploymentId }: RunFilter): boolean {
  const limits = [user, kind, environment, channel, status, deploymentId];
  return limits.every((limit) => limit == null);
}

/**
 * The combinations of kind, environment, channel and status that match a filter, 60 at most. Each is one index range in
 * list order, and a page merges their first rows. So the database never scans runs that do not match, which may be
 * nearly all of a million.
 */
function branchesOf({ kind, environment, channel, status }: RunFilter): Prisma.Sql {
  const branches = (kind ? [kind] : Object.values(RunKind)).flatMap((kind) =>
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
  // One `unnest` for all columns: with one per column, the planner overestimates the rows and JIT-compiles the query.
  return Prisma.sql`
    unnest(
      ${branches.map(({ kind }) => kind)}::text[]::"RunKind"[],
      ${branches.map(({ environment }) => environment)}::text[]::"Environment"[],
      ${branches.map(({ channel }) => channel)}::text[]::"Channel"[],
      ${branches.map(({ status }) => status)}::text[]::"RunStatus"[]
    ) AS branch(kind, environment, channel, status)`;
}

const SAME_BRANCH = [
  Prisma.sql`runs.kind = branch.kind`,
  Prisma.sql`runs.environment = branch.environment`,
  Prisma.sql`runs.channel = branch.channel`,
  Prisma.sql`runs.status = branch.status`,
];

/** The conditions for the fields that `branchesOf` does not cover. */
function conditionsOf({ user, deploymentId }: RunFilter): Prisma.Sql[] {
  return [
    ...(user == null ? [] : [Prisma.sql`session_id = ${user}`]),
    ...(deploymentId == null ? [] : [Prisma.sql`deployment_id = ${deploymentId}`]),
  ];
}

/** The filter's time range as bounds. The empty id sorts before every id. */
function daysOf({ date, from, to }: RunFilter): PageQuery['bounds'] {
  const day = date == null ? [] : [Date.parse(date)];
  const since = [...day, ...(from ? [from.getTime()] : [])];
  const until = [...day.map((at) => at + DAY_MS), ...(to ? [to.getTime()] : [])];
  return [
    ...since.map((at) => ({ place: [at, ''] as const, direction: 'asc' as const })),
    ...until.map((at) => ({ place: [at, ''] as const, direction: 'desc' as const })),
  ];
}
