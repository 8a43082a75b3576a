import { looks } from '../coordination/poll-on-notify.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import { GatewayError } from '../errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { createCoalesced } from '../storage/coalesce.ts';
import { REQUEST_LIMIT_MS, retry } from '../storage/retry.ts';
import type { LiveRuns } from './active-runs.ts';
import { EVENT_COLUMNS, readEvents } from './event-codec.ts';
import type { ReadOptions, RunEvent } from './events.ts';
import { READ_CHANNEL, runChannel } from './run-channel.ts';

/** Reads the events of any run, at work here, elsewhere, or over. */
export type Replay = {
  /**
   * All events behind a `seq`, then those that follow, until the run ends or the signal says that the reader has
   * left: none lost and none twice. The end of a run that was interrupted reaches every reader, also one who asks
   * from behind it: what it had read of the run's last moments may not be stored.
   *
   * @throws GatewayError `run_not_found`, also of a run that is deleted meanwhile; the database's own error when it has
   *   not answered for a minute, or 7 seconds where the reader is impatient.
   */
  read(
    runId: string,
    after: number,
    signal: AbortSignal,
    options?: ReadOptions,
  ): AsyncIterable<RunEvent>;
};

/** How long a reader of a stream waits for a database that does not answer. */
const PATIENT_MS = 60_000;

export function createReplay({
  prisma,
  liveRuns,
  pubsub,
}: {
  prisma: PrismaClient;
  liveRuns: Pick<LiveRuns, 'find'>;
  pubsub: PubSub;
}): Replay {
  /** However many read a run, its row is read and decoded once for all of them. */
  const lookAt = createCoalesced(async (id: string) => {
    const row = await prisma.run.findUnique({ where: { id }, select: EVENT_COLUMNS });
    return row && { row, ...readEvents(row) };
  });

  /** Follows a run by its row, which whoever works on it brings up to date and tells of. */
  async function* follow(
    runId: string,
    after: number,
    signal: AbortSignal,
    { isImpatient = false }: ReadOptions,
  ) {
    let position = after;
    const limitMs = isImpatient ? REQUEST_LIMIT_MS : PATIENT_MS;
    const answer = () => pubsub.publish(READ_CHANNEL, runId);
    // At once, however slow the database or the reader is.
    const stopAnswering = pubsub.subscribe(runChannel(runId), answer);
    try {
      for await (const _ of looks(pubsub, runChannel(runId), signal)) {
        const found = await retry(() => lookAt(runId), { limitMs, signal });
        if (found === null) throw new GatewayError('run_not_found', `There is no run "${runId}".`);
        const { row, events, end } = found;
        if (!end) answer();
        yield* events.slice(position);
        position = Math.max(position, events.length);
        if (end && (end.seq !== after || row.errorCode === 'interrupted' || row.events === null))
          yield end;
        if (end) return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stopAnswering();
    }
  }

  return {
    read(runId, after, signal, options = {}) {
      const run = liveRuns.find(runId);
      // Who has read what is then lost with this process would miss as much of the next attempt.
      if (run && !run.isRepeatable) return run.read(signal, after, options);
      return follow(runId, after, signal, options);
    },
  };
}
