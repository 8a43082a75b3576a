import { GatewayError, notFound } from '../errors/errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { retryInRequest } from '../storage/retry.ts';
import type { SessionState } from './history.ts';
import type { Turns } from './turns.ts';

/** Takes the last turn of a session back. */
export type DeleteLastTurn = (runId: string, signal: AbortSignal) => Promise<void>;

/**
 * Deletes the messages of a run's turn, if it is the last one of its session, and erases the texts of the run. The memory
 * stays. Waits for the session's turn.
 *
 * @throws GatewayError `run_not_found`; `not_last` if the session has later turns; `session_busy`
 */
export function createDeleteLastTurn({
  prisma,
  turns,
}: {
  prisma: PrismaClient;
  turns: Pick<Turns, 'acquire' | 'release'>;
}): DeleteLastTurn {
  const erase = (runId: string, held?: SessionState) =>
    prisma.$transaction(async (tx) => {
      if (held) {
        const own = { runId, sessionKey: held.key };
        const message = await tx.message.findFirst({ where: own, select: { turn: true } });
        const later = { sessionKey: held.key, turn: { gt: message?.turn ?? held.turns } };
        if (await tx.message.findFirst({ where: later, select: { id: true } }))
          throw notLast(runId);
        await tx.message.deleteMany({ where: own });
      }
      await tx.feedback.deleteMany({ where: { runId } });
      await tx.runPrompt.deleteMany({ where: { runId } });
      await tx.toolCall.deleteMany({ where: { runId } });
      await tx.$executeRaw`
        UPDATE runs SET input = '', response = NULL, output = NULL, events = NULL, event_times = NULL,
          context = NULL, history = NULL, metadata = NULL
        WHERE id = ${runId}`;
    });

  return async (runId, signal) => {
    const select = { botId: true, environment: true, sessionId: true };
    const run = await prisma.run.findUnique({ where: { id: runId }, select });
    if (run === null) throw notFound('run', runId);
    const { sessionId, ...place } = run;
    const session = sessionId === null ? null : { ...place, sessionId };
    const known =
      session &&
      (await prisma.session.findUnique({
        where: { botId_environment_sessionId: session },
        select: { id: true },
      }));
    if (!session || !known) return retryInRequest(() => erase(runId));
    const turn = await turns.acquire({ ...session, key: known.id }, { signal });
    try {
      await retryInRequest(() => erase(runId, turn));
    } finally {
      await turns.release(turn);
    }
  };
}

function notLast(runId: string): GatewayError {
  const message = `The turn of the run "${runId}" is not the last one of its session.`;
  return new GatewayError('not_last', message);
}
