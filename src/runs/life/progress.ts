import { isOutage } from '../../errors/outage.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import {
  EVENT_COLUMNS,
  type EventPiece,
  type EventRecord,
  type EventRow,
  earlierEvents,
  readPiece,
  recordEvents,
} from '../record/event-codec.ts';
import type { RunEvent } from '../record/events.ts';
import type { StoredSpan } from '../record/spans.ts';

/** What an attempt at a run has emitted since its last stored piece. */
export type NewPiece = EventRecord & {
  /** The number of the first event. */
  fromSeq: number;
  /** All spans so far; `undefined` if none has started or ended since the last piece. */
  spans: StoredSpan[] | undefined;
};

/** The columns of a run that `readProgress` needs. */
export const PROGRESS_COLUMNS = { ...EVENT_COLUMNS, attempt: true } satisfies Prisma.RunSelect;

type ActiveRow = EventRow & { attempt: number };

/**
 * Reads the events of the current attempt at an active run from its pieces.
 *
 * @param known all events up to some position. The events that are stored after it are appended.
 */
export async function readProgress(
  prisma: PrismaClient,
  row: ActiveRow,
  known: RunEvent[],
): Promise<RunEvent[]> {
  const pieces = await prisma.$queryRaw<EventPiece[]>`
    SELECT from_seq AS "fromSeq", response, events, event_times AS "eventTimes" FROM run_progress
    WHERE run_id = ${row.id} AND attempt = ${row.attempt}
      AND from_seq + cardinality(event_times) > ${known.length + 1}::int
    ORDER BY from_seq`;
  for (const piece of pieces) {
    // The earlier events of a forgotten session are gone.
    if (piece.fromSeq > known.length + 1) break;
    known.push(...readPiece(piece, row).slice(known.length + 1 - piece.fromSeq));
  }
  return known;
}

/**
 * Moves the pieces of an attempt whose process died into the row of its run, so that the row has all that is stored of
 * the attempt. Pieces that cannot be read, or whose earlier ones are gone, are deleted. Safe to repeat.
 */
export async function foldProgress(
  { prisma, log }: { prisma: PrismaClient; log: Log },
  runId: string,
): Promise<void> {
  try {
    const where = { id: runId, status: 'RUNNING' } as const;
    const row = await prisma.run.findUnique({ where, select: PROGRESS_COLUMNS });
    if (row) await fold(prisma, row);
  } catch (err) {
    if (isOutage(err)) throw err;
    log.error({ runId, err }, 'The stored progress of a run cannot be read. It is deleted.');
    await prisma.runProgress.deleteMany({ where: { runId } });
  }
}

async function fold(prisma: PrismaClient, row: ActiveRow): Promise<void> {
  const { id, attempt, createdAt } = row;
  const earlier = earlierEvents(row);
  const all = await readProgress(prisma, row, [...earlier]);
  if (all.length === earlier.length) {
    // Pieces without the ones before them, after their session was forgotten, would keep the run from its end.
    await prisma.runProgress.deleteMany({ where: { runId: id, attempt } });
    return;
  }
  const { response, events, eventTimes } = recordEvents(all, createdAt.getTime());
  await prisma.$executeRaw`
    WITH latest AS (
      SELECT spans FROM run_progress
      WHERE run_id = ${id} AND attempt = ${attempt} AND spans IS NOT NULL ORDER BY from_seq DESC LIMIT 1
    ), folded AS (
      UPDATE runs SET response = ${response}, events = ${JSON.stringify(events)}::jsonb,
        event_times = ${eventTimes}::int[], spans = COALESCE((SELECT spans FROM latest), spans)
      WHERE id = ${id} AND status = 'RUNNING' AND attempt = ${attempt}
      RETURNING id
    )
    -- A process that is not dead may have stored another piece meanwhile.
    DELETE FROM run_progress WHERE run_id IN (SELECT id FROM folded) AND from_seq <= ${all.length}::int`;
}

/** Selects runs whose current attempt has pieces. */
export const HAS_PROGRESS = Prisma.sql`EXISTS (
  SELECT 1 FROM run_progress WHERE run_progress.run_id = runs.id AND run_progress.attempt = runs.attempt)`;
