import type { PrismaClient } from '../generated/prisma/client.ts';

/**
 * Ends the runs that no process works on any more: they are `FAILED`, with the code `interrupted`. For a database
 * that nobody else works on.
 */
export async function endInterruptedRuns(prisma: PrismaClient): Promise<void> {
  await prisma.run.updateMany({
    where: { status: 'RUNNING' },
    data: {
      status: 'FAILED',
      errorCode: 'interrupted',
      errorMessage: 'The server was stopped while the run was at work.',
      finishedAt: new Date(),
    },
  });
}
