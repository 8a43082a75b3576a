import {
  type Channel,
  type Entrance,
  type Environment,
  type FeedbackRating,
  Prisma,
  type RunKind,
  type RunStatus,
} from '../../generated/prisma/client.ts';
import type { PageQuery } from '../../storage/keyset.ts';
import { NEWEST_FIRST, withinBounds } from '../../storage/lists.ts';
import { channelOf } from '../record/entrance.ts';
import { containsWords } from '../search/search-conditions.ts';

/** Selects the runs that match every given field. */
export type RunFilter = {
  /** A session id. */
  user?: string | null | undefined;
  /** Any of these. */
  status?: readonly RunStatus[] | null | undefined;
  /** Any of these. */
  channel?: readonly Channel[] | null | undefined;
  /** Any of these. */
  entrance?: readonly Entrance[] | null | undefined;
  /** Any kind but drafts by default. */
  kind?: RunKind | null | undefined;
  environment?: Environment | null | undefined;
  deploymentId?: string | null | undefined;
  /** The name of a model. */
  model?: string | null | undefined;
  /** Any of these. Only failed runs have one. */
  errorCode?: readonly string[] | null | undefined;
  /** At least 1. Only finished runs have a latency. */
  minLatencyMs?: number | null | undefined;
  /** The fewest prompt and completion tokens together, at least 1. */
  minTokens?: number | null | undefined;
  /** A rating that at least one author gave. */
  feedback?: FeedbackRating | null | undefined;
  /** Words, "phrases" and -exclusions that a finished run's input or reply contains. */
  text?: string | null | undefined;
  /** The UTC day of creation, `YYYY-MM-DD`. */
  date?: string | null | undefined;
  /** The earliest time of creation, inclusive. */
  from?: Date | null | undefined;
  /** The latest time of creation, exclusive. */
  to?: Date | null | undefined;
};

/** The kinds of a filter without a kind. */
export const LISTED_KINDS: RunKind[] = ['CHAT', 'EXECUTE'];
const DAY_MS = 24 * 60 * 60 * 1_000;

/** The conditions of a whole filter on the table `runs`, for statements that need no order. */
export function matches(filter: RunFilter): Prisma.Sql[] {
  return [
    ...conditionsOf(filter),
    ...(filter.text == null ? [] : containsWords(filter.text)),
    ...withinBounds(NEWEST_FIRST, boundsOf(filter)),
  ];
}

/** The conditions of all fields but the text and the time. */
export function conditionsOf(filter: RunFilter): Prisma.Sql[] {
  return [...matchesEnums(filter), ...matchesRest(filter)];
}

function isRated(rating: FeedbackRating): Prisma.Sql {
  return Prisma.sql`
    EXISTS (SELECT 1 FROM feedback WHERE run_id = runs.id AND rating = ${rating}::"FeedbackRating")`;
}

function enteredBy(entrances: readonly Entrance[]): Prisma.Sql {
  const channels = entrances.map(channelOf).filter((channel) => channel !== 'API');
  const stored = Prisma.sql`entrance = ANY(${[...entrances]}::text[]::"Entrance"[])`;
  if (channels.length === 0) return stored;
  const ofChannel = Prisma.sql`runs.channel = ANY(${channels}::text[]::"Channel"[])`;
  return channels.length === entrances.length ? ofChannel : Prisma.sql`(${stored} OR ${ofChannel})`;
}

/** The condition of a minimum of tokens. */
export function tokensFrom(least: number): Prisma.Sql {
  return Prisma.sql`(prompt_tokens::bigint + completion_tokens) >= ${least}`;
}

/** The conditions on kind, environment, channel and status. */
export function matchesEnums({ kind, environment, channel, status }: RunFilter): Prisma.Sql[] {
  return [
    kind == null ? Prisma.sql`runs.kind <> 'DRAFT'` : Prisma.sql`runs.kind = ${kind}::"RunKind"`,
    ...(environment == null ? [] : [Prisma.sql`runs.environment = ${environment}::"Environment"`]),
    ...(channel == null
      ? []
      : [Prisma.sql`runs.channel = ANY(${[...channel]}::text[]::"Channel"[])`]),
    ...(status == null
      ? []
      : [Prisma.sql`runs.status = ANY(${[...status]}::text[]::"RunStatus"[])`]),
  ];
}

/** The conditions of all fields except the text, the time and the fields of `matchesEnums`. */
export function matchesRest({
  user,
  entrance,
  deploymentId,
  model,
  errorCode,
  minLatencyMs,
  minTokens,
  feedback,
}: RunFilter): Prisma.Sql[] {
  return [
    ...(user == null ? [] : [Prisma.sql`session_id = ${user}`]),
    ...(entrance == null ? [] : [enteredBy(entrance)]),
    ...(deploymentId == null ? [] : [Prisma.sql`deployment_id = ${deploymentId}`]),
    ...(model == null ? [] : [Prisma.sql`model = ${model}`]),
    ...(errorCode == null ? [] : [Prisma.sql`error_code = ANY(${[...errorCode]})`]),
    ...(minLatencyMs == null ? [] : [Prisma.sql`latency_ms >= ${minLatencyMs}`]),
    ...(minTokens == null ? [] : [tokensFrom(minTokens)]),
    ...(feedback == null ? [] : [isRated(feedback)]),
  ];
}

/** The filter's time range as bounds. The empty id sorts before every id. */
export function boundsOf({ date, from, to }: RunFilter): PageQuery['bounds'] {
  const day = date == null ? [] : [Date.parse(date)];
  const since = [...day, ...(from ? [from.getTime()] : [])];
  const until = [...day.map((at) => at + DAY_MS), ...(to ? [to.getTime()] : [])];
  return [
    ...since.map((at) => ({ place: [at, ''] as const, direction: 'asc' as const })),
    ...until.map((at) => ({ place: [at, ''] as const, direction: 'desc' as const })),
  ];
}
