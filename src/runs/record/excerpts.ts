import type { PrismaClient } from '../../generated/prisma/client.ts';

/** The beginnings of the texts of a run. */
export type Excerpts = {
  input: string;
  /** `null` until there is a text. */
  response: string | null;
};

/** Characters (Unicode code points) of an excerpt. */
export const EXCERPT_LENGTH = 200;

/**
 * Reads the beginnings of the texts of runs, in one statement. The rest of a long text is not read.
 *
 * @returns a lookup by the run's id. It returns `undefined` for a deleted run.
 */
export async function readExcerpts(
  prisma: PrismaClient,
  runIds: string[],
): Promise<(runId: string) => Excerpts | undefined> {
  const found = await prisma.$queryRaw<(Excerpts & { id: string })[]>`
    SELECT id, substr(input, 1, ${EXCERPT_LENGTH}::int) AS input,
      substr(response, 1, ${EXCERPT_LENGTH}::int) AS response
    FROM runs WHERE id = ANY(${runIds})`;
  const byId = new Map(found.map(({ id, ...excerpts }) => [id, excerpts]));
  return (runId) => byId.get(runId);
}
