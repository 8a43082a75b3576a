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

/** Which runs are wanted: those to which all of it applies. */
export type RunFilter = {
  /** The session id. */
  user?: string | null | undefined;
  /** Any of these. */
  status?: readonly RunStatus[] | null | undefined;
  /** Any of these. */
  channel?: readonly Channel[] | null | undefined;
  kind?: RunKind | null | undefined;
  environment?: Environment | null | undefined;
  deploymentId?: string | null | undefined;
  /** The UTC day on which they were made, `YYYY-MM-DD`. */
  date?: string | null | undefined;
  /** When they were made, this moment included. */
  from?: Date | null | undefined;
  /** When they were made, this moment not included. */
  to?: Date | null | undefined;
};

/** The lists of bots' runs. */
export type RunList = {
  /** One page of each bot's runs. What a filter finds costs the same however few runs there are of its kind. */
  find(botIds: string[], filter: RunFilter, page: PageQuery): Promise<Standing[]>;
  /** Whether a run is one of those. */
  has(botId: string, filter: RunFilter, runId: string): Promise<boolean>;
};

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The runs of bots, the newest first. */
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

/** Whether a filter leaves nothing out but by time: then the whole list is one range of an index. */
function isWhole({ user, kind, environment, channel, status, deploymentId }: RunFilter): boolean {
  const limits = [user, kind, environment, channel, status, deploymentId];
  return limits.every((limit) => limit == null);
}

/**
 * The combinations of kind, environment, channel and status that a filter lets through, 60 at most. Each is a
 * range of an index in the order of the list, and a page is merged of their first rows: the database never has
 * to walk past runs that the filter leaves out, which may be all but a few of a million.
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
  // One list and not one for each column: of several the planner expects so many rows that it compiles the query.
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

/** What a filter says besides. */
function conditionsOf({ user, deploymentId }: RunFilter): Prisma.Sql[] {
  return [
    ...(user == null ? [] : [Prisma.sql`session_id = ${user}`]),
    ...(deploymentId == null ? [] : [Prisma.sql`deployment_id = ${deploymentId}`]),
  ];
}

/** The bounds that a filter sets by time. Every id comes behind the empty one. */
function daysOf({ date, from, to }: RunFilter): PageQuery['bounds'] {
  const day = date == null ? [] : [Date.parse(date)];
  const since = [...day, ...(from ? [from.getTime()] : [])];
  const until = [...day.map((at) => at + DAY_MS), ...(to ? [to.getTime()] : [])];
  return [
    ...since.map((at) => ({ place: [at, ''] as const, direction: 'asc' as const })),
    ...until.map((at) => ({ place: [at, ''] as const, direction: 'desc' as const })),
  ];
}
