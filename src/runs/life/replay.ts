import { createCoalesced } from '../../async/coalesce.ts';
import { pollOnNotify } from '../../coordination/poll-on-notify.ts';
import type { PubSub } from '../../coordination/pubsub.ts';
import { notFound } from '../../errors/errors.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import { MAX_INT } from '../../storage/int.ts';
import { REQUEST_LIMIT_MS, retry } from '../../storage/retry.ts';
import { earlierEvents, readEvents } from '../record/event-codec.ts';
import type { ReadOptions, RunEvent } from '../record/events.ts';
import { READ_CHANNEL, runChannel } from '../record/run-channel.ts';
import type { ActiveRuns } from './active-runs.ts';
import { PROGRESS_COLUMNS, readProgress } from './progress.ts';

/** Streams the events of any run: active in this process, active on another replica, or finished. */
export type Replay = {
  /**
   * Yields all events after a `seq`, then new ones, each exactly once, until the run finishes or the signal aborts. The
   * terminal event of an interrupted run reaches every reader, even one whose `after` is past it: the reader may have
   * seen events that were never stored.
   *
   * @throws GatewayError `run_not_found`, also if the run is deleted during the read; the database's error if it has
   *   not answered for 60 seconds, or 7 seconds for a read that fails fast.
   */
  read(
    runId: string,
    after: number,
    signal: AbortSignal,
    options?: ReadOptions,
  ): AsyncIterable<RunEvent>;
  /**
   * The position of a finished run's last event; null while the run is active. A reader of an interrupted or erased run
   * may have seen events that are no longer stored, so the end of such a run is `MAX_INT`.
   *
   * @throws GatewayError `run_not_found`
   */
  endOf(runId: string): Promise<number | null>;
};

/** An active run of another process, or of this one in a later attempt, with the events that were read of it. */
type Followed = { readers: number; attempt: number; events: RunEvent[] };

/** How long a stream waits for a database that does not answer. */
const STREAM_LIMIT_MS = 60_000;

export function createReplay({
  prisma,
  activeRuns,
  pubsub,
}: {
  prisma: PrismaClient;
  activeRuns: Pick<ActiveRuns, 'find'>;
  pubsub: PubSub;
}): Replay {
  const followed = new Map<string, Followed>();

  /** All readers of a run share one query, and decode each of its stored pieces once. */
  const readRun = createCoalesced(async (id: string) => {
    const row = await prisma.run.findUnique({ where: { id }, select: PROGRESS_COLUMNS });
    if (row?.status !== 'RUNNING') return row && { row, ...readEvents(row) };
    const run = followed.get(id);
    const earlier = earlierEvents(row);
    // A process of version 0.2 stores the events of its run in the row.
    const isKnown = run?.attempt === row.attempt && run.events.length >= earlier.length;
    const events = await readProgress(prisma, row, isKnown ? run.events : earlier);
    if (run) Object.assign(run, { attempt: row.attempt, events });
    // A run has started before its first piece is stored.
    return events.length > 0 ? { row, events, end: undefined } : { row, ...readEvents(row) };
  });

  const join = (id: string) => {
    const run = followed.get(id) ?? { readers: 0, attempt: 0, events: [] };
    followed.set(id, run);
    run.readers += 1;
    return () => {
      run.readers -= 1;
      if (run.readers === 0) followed.delete(id);
    };
  };

  /** Follows a run by its row: its owner stores checkpoints and notifies `runChannel`. */
  async function* follow(
    runId: string,
    after: number,
    signal: AbortSignal,
    { failsFast = false }: ReadOptions,
  ) {
    let position = after;
    const limitMs = failsFast ? REQUEST_LIMIT_MS : STREAM_LIMIT_MS;
    const announce = () => pubsub.publish(READ_CHANNEL, runId);
    // Announces the reader as soon as the owner notifies, even while the database or the reader is slow.
    const stopAnnouncing = pubsub.subscribe(runChannel(runId), announce);
    const leave = join(runId);
    try {
      for await (const _ of pollOnNotify(pubsub, runChannel(runId), signal)) {
        const found = await retry(() => readRun(runId), { limitMs, signal });
        if (found === null) throw notFound('run', runId);
        const { row, events, end } = found;
        if (!end) announce();
        // Another reader may append to the events while this one is slow.
        const next = events.slice(position);
        position += next.length;
        yield* next;
        if (end && (end.seq !== after || row.errorCode === 'interrupted' || row.events === null))
          yield end;
        if (end) return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stopAnnouncing();
      leave();
    }
  }

  return {
    read(runId, after, signal, options = {}) {
      const run = activeRuns.find(runId);
      // Events that are not stored are lost if this process dies. A reader that had seen them would skip as many events
      // of the next attempt.
      if (run && !run.isRepeatable) return run.read(signal, after, options);
      return follow(runId, after, signal, options);
    },

    async endOf(runId) {
      const found = await retry(() => readRun(runId), { limitMs: REQUEST_LIMIT_MS });
      if (found === null) throw notFound('run', runId);
      const { row, end } = found;
      const isErased = row.events === null && row.startedAt !== null;
      if (end && (row.errorCode === 'interrupted' || isErased)) return MAX_INT;
      return end?.seq ?? null;
    },
  };
}
