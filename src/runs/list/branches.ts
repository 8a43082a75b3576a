import {
  Channel,
  Environment,
  Prisma,
  type RunKind,
  RunStatus,
} from '../../generated/prisma/client.ts';
import { channelOf } from '../record/entrance.ts';
import { conditionsOf, LISTED_KINDS, matchesRest, type RunFilter, tokensFrom } from './filter.ts';
import { levelsFrom } from './levels.ts';

/** Values of columns. Each is one index range in list order, and a page merges their first rows. */
export type Branches = {
  rows: Prisma.Sql;
  /** The conditions that a run of a branch meets. */
  same: Prisma.Sql[];
  /** The conditions of the filter's other fields. */
  rest: Prisma.Sql[];
};

/** Whether a filter selects by nothing but the time and the text. */
export function hasOnlyTimeOrText({
  date: _,
  from: __,
  to: ___,
  text: ____,
  ...fields
}: RunFilter): boolean {
  return Object.values(fields).every((field) => field == null);
}

/**
 * The branches of a filter, so that the database never scans runs that do not match, which may be nearly all of a
 * million. None if it selects by time only: then the matching runs are one range of an index.
 */
export function branchesOf(filter: RunFilter): Branches | undefined {
  if (hasOnlyTimeOrText(filter)) return undefined;
  const { user, errorCode, minLatencyMs, minTokens } = filter;
  if (errorCode != null) return ofErrors(filter, errorCode);
  if (user == null && minLatencyMs != null) return ofLevels(LATENCY, minLatencyMs, filter);
  if (user == null && minTokens != null) return ofLevels(TOKENS, minTokens, filter);
  return ofEntrances(filter) ?? ofEnums(filter);
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
  const { user, entrance, deploymentId, model, ...others } = filter;
  // One `unnest` for all columns: with one per column, the planner overestimates the rows and JIT-compiles the query.
  return {
    rows: Prisma.sql`
      unnest(${columnsOf(combinations(filter))}) AS branch(kind, environment, channel, status)`,
    same: [...SAME_ENUMS, ...matchesRest({ user, entrance, deploymentId, model })],
    rest: matchesRest(others),
  };
}

/**
 * As `ofEnums`, for each entrance of the API, which is in the entries of the index. Undefined for other filters: runs of the
 * channels WEB and TELEGRAM may have no entrance.
 */
function ofEntrances({ entrance, ...filter }: RunFilter): Branches | undefined {
  if (entrance == null || entrance.some((one) => channelOf(one) !== 'API')) return undefined;
  const { user, deploymentId, model, ...others } = filter;
  const branches = combinations({ ...filter, entrance }).flatMap((branch) =>
    [...new Set(entrance)].map((entrance) => ({ ...branch, entrance })),
  );
  const entrances = branches.map(({ entrance }) => entrance);
  // The planner overestimates the cost of the condition `entrance = ANY` with the index.
  return {
    rows: Prisma.sql`
      unnest(${columnsOf(branches)}, ${entrances}::text[]::"Entrance"[])
        AS branch(kind, environment, channel, status, entrance)`,
    same: [
      ...SAME_ENUMS,
      Prisma.sql`runs.entrance = branch.entrance`,
      ...matchesRest({ user, deploymentId, model }),
    ],
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

function combinations({ kind, environment, channel, entrance, status }: RunFilter): Branch[] {
  const entered = entrance?.map(channelOf) ?? Object.values(Channel);
  const channels = Object.values(Channel).filter(
    (one) => entered.includes(one) && (channel?.includes(one) ?? true),
  );
  return (kind ? [kind] : LISTED_KINDS).flatMap((kind) =>
    (environment ? [environment] : Object.values(Environment)).flatMap((environment) =>
      channels.flatMap((channel) =>
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
