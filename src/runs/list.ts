import {
  Channel,
  Environment,
  Prisma,
  type PrismaClient,
  RunKind,
  RunStatus,
} from '../generated/prisma/client.ts';
import type { Direction, PageQuery, Place } from '../storage/keyset.ts';
import { moment } from '../storage/moment.ts';

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

/** A run's place in the list: when it was made, in milliseconds since 1970, and its id. */
export type ListedRun = { id: string; at: number };

/** The list of a bot's runs. */
export type RunList = {
  /** The ids of one page. What a filter finds costs the same however few runs there are of its kind. */
  find(botId: string, filter: RunFilter, page: PageQuery): Promise<ListedRun[]>;
  /** Whether a run is one of those. */
  has(botId: string, filter: RunFilter, runId: string): Promise<boolean>;
};

const DAY_MS = 24 * 60 * 60 * 1_000;

export function createRunList({ prisma }: { prisma: PrismaClient }): RunList {
  return {
    find(botId, filter, { bounds, direction, take }) {
      const conditions = conditionsOf(botId, filter, bounds);
      const order =
        direction === 'asc' ? Prisma.sql`created_at, id` : Prisma.sql`created_at DESC, id DESC`;
      const first = (conditions: Prisma.Sql[]) => Prisma.sql`
        SELECT id, created_at FROM runs
        WHERE ${Prisma.join(conditions, ' AND ')} ORDER BY ${order} LIMIT ${take}`;
      const source = isWhole(filter)
        ? Prisma.sql`(${first(conditions)}) AS run`
        : Prisma.sql`${branchesOf(filter)} CROSS JOIN LATERAL (${first([...SAME_BRANCH, ...conditions])}) AS run`;
      return prisma.$queryRaw<ListedRun[]>`
        SELECT id, (extract(epoch FROM created_at) * 1000)::float8 AS at
        FROM ${source} ORDER BY ${order} LIMIT ${take}`;
    },

    async has(botId, filter, id) {
      const { kind, environment, channel, status } = filter;
      const conditions = [
        Prisma.sql`id = ${id}`,
        ...(kind ? [Prisma.sql`kind::text = ${kind}`] : []),
        ...(environment ? [Prisma.sql`environment::text = ${environment}`] : []),
        ...(channel ? [Prisma.sql`channel::text = ANY(${[...channel]})`] : []),
        ...(status ? [Prisma.sql`status::text = ANY(${[...status]})`] : []),
        ...conditionsOf(botId, filter),
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

type Bound = PageQuery['bounds'][number];

/** What a filter says besides. */
function conditionsOf(botId: string, filter: RunFilter, bounds: Bound[] = []): Prisma.Sql[] {
  const { user, deploymentId } = filter;
  return [
    Prisma.sql`bot_id = ${botId}`,
    ...(user == null ? [] : [Prisma.sql`session_id = ${user}`]),
    ...(deploymentId == null ? [] : [Prisma.sql`deployment_id = ${deploymentId}`]),
    ...rangeOf([...bounds, ...daysOf(filter)]),
  ];
}

/** The bounds that a filter sets by time. Every id comes behind the empty one. */
function daysOf({ date, from, to }: RunFilter): Bound[] {
  const day = date == null ? [] : [Date.parse(date)];
  const since = [...day, ...(from ? [from.getTime()] : [])];
  const until = [...day.map((at) => at + DAY_MS), ...(to ? [to.getTime()] : [])];
  return [
    ...since.map((at): Bound => ({ place: [at, ''], direction: 'asc' })),
    ...until.map((at): Bound => ({ place: [at, ''], direction: 'desc' })),
  ];
}

/** Only the narrowest bound of each side: the database may begin at any of them, and walk to the next. */
function rangeOf(bounds: Bound[]): Prisma.Sql[] {
  const narrowest = (wanted: Direction) =>
    bounds
      .filter(({ direction }) => direction === wanted)
      .map(({ place }) => place)
      .toSorted(comparePlaces)
      .at(wanted === 'asc' ? -1 : 0);
  const behind = narrowest('asc');
  const before = narrowest('desc');
  return [
    ...(behind ? [Prisma.sql`(created_at, id) > (${moment(behind[0])}, ${behind[1]})`] : []),
    ...(before ? [Prisma.sql`(created_at, id) < (${moment(before[0])}, ${before[1]})`] : []),
  ];
}

/** Of those with the same number, one has no text: at most one bound of a side is a run's. */
function comparePlaces([a, tie]: Place, [b, otherTie]: Place): number {
  return a - b || tie.length - otherTie.length;
}
