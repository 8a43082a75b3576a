import { type Actor, recordChanges } from '../accounts/audit.ts';
import { Prisma, type PrismaClient, type Session } from '../generated/prisma/client.ts';
import { deleteBatch } from '../storage/delete-batch.ts';
import { databaseTime } from '../storage/moment.ts';
import { retry, retryInRequest, withinRequest } from '../storage/retry.ts';
import { makeId } from '../text/ids.ts';
import { assertNotReserved } from './channel-ids.ts';
import type { SessionRef } from './history.ts';
import { saveFact } from './memory.ts';
import type { Turns } from './turns.ts';

/** Operations on a session outside its turns. */
export type Sessions = {
  /**
   * Sets or deletes a fact about a session's user. Creates the session if it does not exist.
   *
   * @param value `null` deletes the fact.
   * @throws GatewayError `invalid_request` if the session already has `MAX_FACTS` other facts, or if its id is reserved.
   */
  setMemory(
    session: SessionRef,
    name: string,
    value: string | null,
    actor: Actor,
  ): Promise<Session>;
  /**
   * Erases a session: its history, its memory, the text of its runs, and its id on them and in their traces. Waits for
   * the session's turn. After a failure the session still exists; a repeat continues. Idempotency records stay: they hold
   * only hashes, and a repeated request must not run again.
   *
   * @param actor the author of the deletion, for the audit log.
   * @returns whether the session existed.
   * @throws GatewayError `session_busy`
   */
  forget(session: SessionRef, signal: AbortSignal, actor: Actor): Promise<boolean>;
  /** Begins a new conversation: the history that is sent to the model starts now. The memory stays. */
  beginAnew(session: SessionRef): Promise<void>;
  /** Whether the session exists and was begun by a chat with a draft. */
  isDraft(session: SessionRef): Promise<boolean>;
  /** See `assertNotReserved` in `channel-ids.ts`. */
  assertNotReserved(session: SessionRef, path: string): Promise<void>;
};

/**
 * The session id of a chat with a draft, from the key of its new session. No client can choose a key, so no other session
 * has such an id.
 */
export function draftSessionId(key: string): string {
  return `draft_${key}`;
}

/** A condition for sessions of drafts. */
export const IS_DRAFT_SESSION = Prisma.sql`session_id = 'draft_' || id`;

/** A run's spans without the attribute `gen_ai.conversation.id`, which holds the session id. */
const WITHOUT_CONVERSATION = Prisma.sql`(
  SELECT jsonb_agg(span #- '{attributes,gen_ai.conversation.id}' ORDER BY place)
  FROM jsonb_array_elements(spans) WITH ORDINALITY AS stored(span, place))`;

/** The most runs that one statement erases, so that a long conversation does not block other sessions. */
const BATCH = 500;

export function createSessions({
  prisma,
  turns,
}: {
  prisma: PrismaClient;
  turns: Turns;
}): Sessions {
  const setMemoryOnce = (
    session: SessionRef,
    name: string,
    value: string | null,
    actor: Actor,
    auditId: string,
  ) =>
    prisma.$transaction(async (tx) => {
      const stored = await tx.session.upsert({
        where: { botId_environment_sessionId: session },
        create: { id: makeId('ses'), ...session },
        update: { lastSeenAt: new Date(await databaseTime(tx)) },
      });
      const { id: sessionKey, botId } = stored;
      if (value === null) await tx.memoryEntry.deleteMany({ where: { sessionKey, name } });
      else await saveFact(tx, sessionKey, name, value);
      const change = { id: auditId, action: 'SET_MEMORY', targetId: sessionKey, botId } as const;
      await recordChanges(tx, actor, change);
      return stored;
    });

  /** @returns the id after which to continue; null at the end. */
  const forgetRuns = async ({ botId, environment, sessionId }: SessionRef, after: string) => {
    const [batch] = await prisma.$queryRaw<{ last: string | null }[]>`
      WITH batch AS MATERIALIZED (
        SELECT id FROM runs
        WHERE bot_id = ${botId} AND environment = ${environment}::"Environment"
          AND session_id = ${sessionId} AND id > ${after}
        ORDER BY id LIMIT ${BATCH}
      ), unrated AS (
        DELETE FROM feedback WHERE run_id IN (SELECT id FROM batch)
      ), unprompted AS (
        DELETE FROM run_prompts WHERE run_id IN (SELECT id FROM batch)
      ), uncalled AS (
        DELETE FROM tool_calls WHERE run_id IN (SELECT id FROM batch)
      ), unstored AS (
        DELETE FROM run_progress WHERE run_id IN (SELECT id FROM batch)
      ), forgotten AS (
        UPDATE runs SET session_id = NULL, input = '', response = NULL, output = NULL, events = NULL,
          event_times = NULL, context = NULL, history = NULL, metadata = NULL, spans = ${WITHOUT_CONVERSATION}
        WHERE id IN (SELECT id FROM batch)
      )
      SELECT max(id) AS last FROM batch`;
    return batch?.last ?? null;
  };

  /** Deletes by key: on a repeat after a lost response, a new session may already have the same session id. */
  const deleteSession = ({ botId }: SessionRef, id: string, actor: Actor) =>
    prisma.$transaction(async (tx) => {
      const { count } = await tx.session.deleteMany({ where: { id } });
      if (count === 0) return;
      await recordChanges(tx, actor, { action: 'FORGET_SESSION', targetId: id, botId });
    });

  return {
    async setMemory(...fact) {
      await assertNotReserved(prisma, fact[0], 'sessionId');
      const auditId = makeId('aud');
      return retryInRequest(() => setMemoryOnce(...fact, auditId));
    },

    assertNotReserved: (session, path) => assertNotReserved(prisma, session, path),

    async beginAnew({ botId, environment, sessionId }) {
      const work = () => prisma.$executeRaw`
        UPDATE sessions SET history_from = turns
        WHERE bot_id = ${botId} AND environment = ${environment}::"Environment" AND session_id = ${sessionId}`;
      await retryInRequest(work);
    },

    async isDraft(session) {
      const where = { botId_environment_sessionId: session };
      const known = await prisma.session.findUnique({ where, select: { id: true } });
      return known !== null && session.sessionId === draftSessionId(known.id);
    },

    async forget(session, signal, actor) {
      const where = { botId_environment_sessionId: session };
      const known = await prisma.session.findUnique({ where, select: { id: true } });
      if (known === null) return false;
      const turn = await turns.acquire({ ...session, key: known.id }, { signal });
      try {
        const when = withinRequest();
        const step = <T>(work: () => Promise<T>) => retry(work, { when });
        for (let last: string | null = ''; last !== null; ) {
          const after: string = last;
          last = await step(() => forgetRuns(session, after));
        }
        const ofSession = Prisma.sql`session_key = ${turn.key}`;
        while (await step(() => deleteBatch(prisma, Prisma.sql`messages`, ofSession)));
        await step(() => deleteSession(session, turn.key, actor));
        return true;
      } finally {
        await turns.release(turn);
      }
    },
  };
}
