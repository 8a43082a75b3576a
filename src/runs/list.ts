import {
  Channel,
  Environment,
  type FeedbackRating,
  Prisma,
  type PrismaClient,
  type RunKind,
  RunStatus,
} from '../generated/prisma/client.ts';
import type { PageQuery, Standing } from '../storage/keyset.ts';
import {
  firstRows,
  inDirection,
  type Lists,
  NEWEST_FIRST,
  orderBy,
  readLists,
  withinBounds,
} from '../storage/lists.ts';
import {
  boundsOf,
  conditionsOf,
  LISTED_KINDS,
  matches,
  matchesRest,
  type RunFilter,
  tokensFrom,
} from './filter.ts';
import { levelsFrom } from './levels.ts';
import { createTextSearch, unindexed } from './text-search.ts';

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

/** Ratings per bot, in the order of their runs. */
const RATINGS = {
  ...NEWEST_FIRST,
  columns: [Prisma.sql`run_created_at`, Prisma.sql`run_id`],
} satisfies Partial<Lists>;

/** A filter with fewer runs than this is cheaper to read one by one than a common word or a low minimum by its index. */
const FEW = 500;

export function createRunList({ prisma }: { prisma: PrismaClient }): RunList {
  const search = createTextSearch({ prisma, lists: RUNS });

  /** Reads a page by the index of one field. The other fields do not select the index. */
  const findBy = (
    botIds: string[],
    filter: RunFilter,
    page: PageQuery,
    branches = branchesOf(filter),
  ) => {
    if (filter.feedback != null)
      return readLists(prisma, RUNS, botIds, page, [], rated(filter, filter.feedback, page));
    if (branches === undefined) return readLists(prisma, RUNS, botIds, page, conditionsOf(filter));
    const conditions = [...branches.same, ...branches.rest.map(unindexed)];
    const rows = Prisma.sql`
      SELECT run.* FROM ${branches.rows} CROSS JOIN LATERAL (${firstRows(RUNS, page, conditions)}) AS run
      ORDER BY ${orderBy(page.direction)} LIMIT ${page.take}`;
    return readLists(prisma, RUNS, botIds, page, [], rows);
  };

  /** The ids of the runs from the page on that match a part of the filter; `undefined` if they are not few. */
  const fewWith = async (botIds: string[], part: RunFilter, page: PageQuery) => {
    const found = await findBy(botIds, part, { ...page, take: FEW, bytes: undefined });
    return found.length < FEW ? found.map(({ id }) => id) : undefined;
  };

  return {
    async find(botIds, filter, pageOfAll) {
      const page = { ...pageOfAll, bounds: [...pageOfAll.bounds, ...boundsOf(filter)] };
      const { text, ...withoutText } = filter;
      if (text != null) {
        const few = isWhole(filter) ? undefined : await fewWith(botIds, withoutText, page);
        return search(botIds, text, page, {
          few,
          conditions: conditionsOf(withoutText).map(unindexed),
        });
      }
      const { minLatencyMs, minTokens, ...withoutLevels } = filter;
      if ((minLatencyMs != null || minTokens != null) && !isWhole(withoutLevels)) {
        const few = await fewWith(botIds, withoutLevels, page);
        if (few)
          return readLists(prisma, RUNS, botIds, page, [
            idIn(few),
            ...conditionsOf(filter).map(unindexed),
          ]);
      }
      return findBy(botIds, filter, page);
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

/** The first runs with a rating that match the rest of the filter. The ratings have the order of the list. */
function rated(filter: RunFilter, rating: FeedbackRating, { bounds, direction, take }: PageQuery) {
  const conditions = [
    Prisma.sql`feedback.bot_id = owner.id`,
    Prisma.sql`rating = ${rating}::"FeedbackRating"`,
    ...withinBounds(RATINGS, bounds),
    ...conditionsOf({ ...filter, feedback: undefined }).map(unindexed),
  ];
  const order = RATINGS.columns.map((column) => Prisma.sql`${column} ${inDirection(direction)}`);
  return Prisma.sql`
    SELECT DISTINCT ON (run_created_at, run_id) run_id AS id,
      (extract(epoch FROM run_created_at) * 1000)::float8 AS number, run_id AS tie
    FROM feedback JOIN runs ON runs.id = run_id
    WHERE ${Prisma.join(conditions, ' AND ')} ORDER BY ${Prisma.join(order)} LIMIT ${take}`;
}

/** Values of columns. Each is one index range in list order, and a page merges their first rows. */
type Branches = {
  rows: Prisma.Sql;
  /** The conditions that a run of a branch meets. */
  same: Prisma.Sql[];
  /** The conditions of the filter's other fields. */
  rest: Prisma.Sql[];
};

/** Whether a filter selects by time only, apart from the text. */
function isWhole({ date: _, from: __, to: ___, text: ____, ...fields }: RunFilter): boolean {
  return Object.values(fields).every((field) => field == null);
}

/**
 * The branches of a filter, so that the database never scans runs that do not match, which may be nearly all of a
 * million. None if it selects by time only: then the matching runs are one range of an index.
 */
function branchesOf(filter: RunFilter): Branches | undefined {
  if (isWhole(filter)) return undefined;
  const { user, errorCode, minLatencyMs, minTokens } = filter;
  if (errorCode != null) return ofErrors(filter, errorCode);
  if (user == null && minLatencyMs != null) return ofLevels(LATENCY, minLatencyMs, filter);
  if (user == null && minTokens != null) return ofLevels(TOKENS, minTokens, filter);
  return ofEnums(filter);
}

function idIn(ids: string[]): Prisma.Sql {
  return Prisma.sql`id = ANY(${ids})`;
}

const LATENCY = Prisma.sql`run_level(latency_ms)`;
const TOKENS = Prisma.sql`run_level(prompt_tokens::bigint + completion_tokens)`;
/** Part of the index's predicate. */
const HAS_TOKENS = Prisma.sql`prompt_tokens::bigint + completion_tokens > 0`;

/** One branch for each level of a number, 180 at most. The enumerations are in the entries of their indexes. */
function ofLevels(level: Prisma.Sql, least: number, filter: RunFilter): Branches {
  const range = level === TOKENS ? tokensFrom(least) : Prisma.sql`latency_ms >= ${least}`;
  const { minLatencyMs, minTokens, ...others } = filter;
  const rest = level === TOKENS ? { ...others, minLatencyMs } : { ...others, minTokens };
  return {
    rows: Prisma.sql`unnest(${levelsFrom(least)}::bigint[]) AS branch(level)`,
    same: [Prisma.sql`${level} = branch.level`, range, ...(level === TOKENS ? [HAS_TOKENS] : [])],
    rest: conditionsOf(rest),
  };
}

/** One branch for each combination of kind, environment, channel and status, 60 at most. */
function ofEnums(filter: RunFilter): Branches {
  const { user, deploymentId, model, ...others } = filter;
  // One `unnest` for all columns: with one per column, the planner overestimates the rows and JIT-compiles the query.
  return {
    rows: Prisma.sql`
      unnest(${columnsOf(combinations(filter))}) AS branch(kind, environment, channel, status)`,
    same: [...SAME_ENUMS, ...matchesRest({ user, deploymentId, model })],
    rest: matchesRest(others),
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
    rest: matchesRest({ ...filter, errorCode: undefined }),
  };
}

type Branch = {
  kind: RunKind;
  environment: Environment;
  channel: Channel;
  status: RunStatus;
};

function combinations({ kind, environment, channel, status }: RunFilter): Branch[] {
  return (kind ? [kind] : LISTED_KINDS).flatMap((kind) =>
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
