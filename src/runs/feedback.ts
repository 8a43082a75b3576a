import { GatewayError } from '../errors.ts';
import {
  type Feedback,
  type FeedbackRating,
  Prisma,
  type PrismaClient,
} from '../generated/prisma/client.ts';
import { retry, withinRequest } from '../storage/retry.ts';
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
  /** Reads the ratings of each run, oldest first, at most `MOST_LISTED` of each. */
  ofRuns(runIds: string[]): Promise<Feedback[]>;
};

/** Ratings of a run that a response lists. */
export const MOST_LISTED = 20;

/** The author of ratings by users, who have no keys. */
const USER = 'user';
/** Prisma's code for a violated foreign key. */
const RUN_DELETED = 'P2003';

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
        const run = await prisma.run.findUnique({
          where: { id: runId },
          select: { botId: true, createdAt: true },
        });
        if (run === null) throw new GatewayError('run_not_found', `There is no run "${runId}".`);
        const { botId, createdAt: runCreatedAt } = run;
        return prisma.feedback.upsert({
          where: { runId_author: { runId, author } },
          create: { runId, author, botId, runCreatedAt, rating, note },
          update: { rating, note },
        });
      };
      const stored = await retry(store, { when: withinRequest() }).catch((error) => {
        if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === RUN_DELETED)
          throw new GatewayError('run_not_found', `There is no run "${runId}".`);
        throw error;
      });
      notify({ id: runId, botId: stored.botId });
      return stored;
    },

    async remove(runId, { keyId }) {
      const [removed] = await retry(
        () =>
          prisma.$queryRaw<{ botId: string }[]>`
            DELETE FROM feedback WHERE run_id = ${runId} AND author = ${keyId ?? USER}
            RETURNING bot_id AS "botId"`,
        { when: withinRequest() },
      );
      if (removed) notify({ id: runId, botId: removed.botId });
      return removed !== undefined;
    },

    ofRuns: (runIds) => prisma.$queryRaw<Feedback[]>`
      SELECT rating.* FROM unnest(${runIds}::text[]) AS run(id) CROSS JOIN LATERAL (
        SELECT run_id AS "runId", author, bot_id AS "botId", run_created_at AS "runCreatedAt", rating, note,
          given_at AS "givenAt", changed_at AS "changedAt"
        FROM feedback WHERE run_id = run.id ORDER BY given_at, author LIMIT ${MOST_LISTED}
      ) AS rating ORDER BY rating."givenAt", rating.author`,
  };
}

/** The key that gave a rating; `null` for a user. */
export function keyOfFeedback({ author }: Pick<Feedback, 'author'>): string | null {
  return author === USER ? null : author;
}
