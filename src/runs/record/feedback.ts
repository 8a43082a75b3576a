import { notFound } from '../../errors/errors.ts';
import {
  type Feedback,
  type FeedbackRating,
  Prisma,
  type PrismaClient,
} from '../../generated/prisma/client.ts';
import { retryInRequest } from '../../storage/retry.ts';
import type { NotifyOfRun } from './changes.ts';

/** Who rates a run: the user of its session, or a key by its id. */
export type FeedbackAuthor = { keyId: string | null };

/** The ratings of runs. Each author has one for each run. */
export type RunFeedback = {
  /**
   * Stores a rating in place of the author's earlier one.
   *
   * @throws GatewayError `run_not_found` if the run does not exist.
   */
  add(
    runId: string,
    author: FeedbackAuthor,
    given: { rating: FeedbackRating; note: string | null },
  ): Promise<Feedback>;
  /** Removes the author's rating. @returns whether there was one. */
  remove(runId: string, author: FeedbackAuthor): Promise<boolean>;
};

/** Ratings of a run that a response lists. */
export const MAX_LISTED = 20;

/** The author of ratings by users, who have no keys. */
const USER = 'user';
const COLUMNS = Prisma.sql`run_id AS "runId", author, bot_id AS "botId", run_created_at AS "runCreatedAt", rating, note,
  given_at AS "givenAt", changed_at AS "changedAt"`;

export function createRunFeedback({
  prisma,
  notify,
}: {
  prisma: PrismaClient;
  notify: NotifyOfRun;
}): RunFeedback {
  return {
    async add(runId, { keyId }, { rating, note }) {
      const author = keyId ?? USER;
      const store = async () => {
        // The lock lets a concurrent deletion of the run finish first.
        const [given] = await prisma.$queryRaw<Feedback[]>`
          INSERT INTO feedback (run_id, author, bot_id, run_created_at, rating, note)
          SELECT id, ${author}, bot_id, created_at, ${rating}::"FeedbackRating", ${note}
          FROM runs WHERE id = ${runId} FOR KEY SHARE
          ON CONFLICT (run_id, author) DO UPDATE
          SET rating = excluded.rating, note = excluded.note, changed_at = now()
          RETURNING ${COLUMNS}`;
        if (!given) throw notFound('run', runId);
        return given;
      };
      const stored = await retryInRequest(store);
      notify({ id: runId, botId: stored.botId });
      return stored;
    },

    async remove(runId, { keyId }) {
      const [removed] = await retryInRequest(
        () => prisma.$queryRaw<{ botId: string }[]>`
          DELETE FROM feedback WHERE run_id = ${runId} AND author = ${keyId ?? USER}
          RETURNING bot_id AS "botId"`,
      );
      if (removed) notify({ id: runId, botId: removed.botId });
      return removed !== undefined;
    },
  };
}

/**
 * A statement that selects the ratings of runs, oldest first, at most `MAX_LISTED` of each, with the column `bytes`.
 *
 * @param bytes for each run, how often its notes count, and how much each of its ratings counts besides.
 */
export function ratingsOf(
  runIds: string[],
  bytes: { copies: number[]; entryBytes: number[] },
): Prisma.Sql {
  return Prisma.sql`
    SELECT rating.*, COALESCE(octet_length(rating.note), 0) * run.copies + run.entry_bytes AS bytes
    FROM unnest(${runIds}::text[], ${bytes.copies}::float8[], ${bytes.entryBytes}::float8[])
        AS run(id, copies, entry_bytes)
      CROSS JOIN LATERAL (
        SELECT ${COLUMNS} FROM feedback WHERE run_id = run.id ORDER BY given_at, author LIMIT ${MAX_LISTED}
      ) AS rating`;
}

/** The key that gave a rating; `null` for a user. */
export function keyOfFeedback({ author }: Pick<Feedback, 'author'>): string | null {
  return author === USER ? null : author;
}
