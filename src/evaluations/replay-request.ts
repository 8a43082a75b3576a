import { invalidInput, notFound } from '../errors/errors.ts';
import { type PrismaClient, RunStatus } from '../generated/prisma/client.ts';
import type { RunFilter } from '../runs/list/filter.ts';
import type { RunList } from '../runs/list/list.ts';
import type { Found, Place } from '../storage/keyset.ts';

/** Which recorded runs an evaluation repeats. */
export type ReplayRequest = {
  of: { runIds: readonly string[] } | { filter: RunFilter; last: number };
  /** Whether each run gets its recorded history and memory. */
  session: boolean;
};

/** Runs a search of runs: a filter with a text waits for the other searches of its account. */
export type Search = (
  filter: RunFilter | null | undefined,
  read: () => Promise<Found>,
) => Promise<Found>;

export const MAX_REPLAYED = 500;
export const DEFAULT_REPLAYED = 50;
/** Steps of a search for a text. Each one takes a bounded amount of work. */
const MAX_STEPS = 20;
const FINISHED: RunStatus[] = [RunStatus.COMPLETED, RunStatus.FAILED];

/**
 * Finds the runs of a replay, newest first.
 *
 * @throws GatewayError `run_not_found` for the id of no run of the bot, `invalid_request` for an impossible request.
 */
export type FindReplayed = (
  botId: string,
  request: ReplayRequest,
  search: Search,
) => Promise<string[]>;

export function createFindReplayed({
  prisma,
  runList,
}: {
  prisma: PrismaClient;
  runList: Pick<RunList, 'find'>;
}): FindReplayed {
  const withIds = async (botId: string, runIds: readonly string[]) => {
    const ids = [...new Set(runIds)];
    assertCount('input.replay.runIds', ids.length);
    const where = { id: { in: ids }, botId };
    const found = await prisma.run.findMany({ where, select: { id: true } });
    const known = new Set(found.map(({ id }) => id));
    const absent = ids.find((id) => !known.has(id));
    if (absent !== undefined) throw notFound('run', absent);
    return ids;
  };

  const newest = async (botId: string, given: RunFilter, last: number, search: Search) => {
    assertCount('input.replay.last', last);
    if (given.kind === 'DRAFT')
      throw invalidInput([
        { path: 'input.replay.filter.kind', message: 'must be CHAT or EXECUTE' },
      ]);
    const status = FINISHED.filter((one) => given.status?.includes(one) ?? true);
    const filter = { ...given, status };
    const ids: string[] = [];
    let after: Place | undefined;
    for (let step = 0; step < MAX_STEPS && status.length > 0; step += 1) {
      const bounds = after ? [{ place: after, direction: 'desc' as const }] : [];
      const page = { bounds, direction: 'desc' as const, take: last - ids.length };
      const { rows, reached } = await search(filter, () => runList.find([botId], filter, page));
      ids.push(...rows.map(({ id }) => id));
      if (ids.length >= last || !reached) break;
      after = reached;
    }
    return ids.slice(0, last);
  };

  return (botId, { of }, search) =>
    'runIds' in of ? withIds(botId, of.runIds) : newest(botId, of.filter, of.last, search);
}

function assertCount(path: string, count: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= MAX_REPLAYED) return;
  throw invalidInput([{ path, message: `must be 1 to ${MAX_REPLAYED}` }]);
}
