import { recordChanges } from '../accounts/audit.ts';
import type { ReadyCall } from '../agent/approved-calls.ts';
import type { Approval, PrismaClient } from '../generated/prisma/client.ts';
import type { Decider } from './decision.ts';

/** The final state of an approval, with the person's note. */
type Made = { status: 'APPROVED' | 'DENIED'; note: string | undefined };

/** Arguments in place of the model's, and the call with them. */
type Replacement = { edited: string; ready: Pick<ReadyCall, 'digest' | 'request'> };

/**
 * Stores a decision, if none was made and the approval has not expired. Of concurrent decisions, the first wins.
 *
 * @returns whether this decision was stored.
 */
export function recordDecision(
  prisma: PrismaClient,
  { id, botId }: Pick<Approval, 'id' | 'botId'>,
  { status, note }: Made,
  replacement: Replacement | undefined,
  { chatId, ...actor }: Decider,
): Promise<boolean> {
  const { edited, ready } = replacement ?? {};
  return prisma.$transaction(async (tx) => {
    const decided = await tx.$queryRaw<unknown[]>`
      UPDATE approvals SET status = ${status}::"ApprovalStatus", note = ${note ?? null},
        edited_arguments = ${edited ?? null}, digest = COALESCE(${ready?.digest ?? null}, digest),
        request = COALESCE(${ready?.request ? JSON.stringify(ready.request) : null}::jsonb, request),
        decided_at = now(), decided_by_id = ${actor.keyId}, decided_in_chat = ${chatId ?? null}::bigint
      WHERE id = ${id} AND status = 'WAITING' AND expires_at > now()
      RETURNING id`;
    if (decided.length === 0) return false;
    if (status === 'DENIED') {
      await tx.$executeRaw`
        UPDATE tool_calls SET status = 'DENIED', finished_at = now() WHERE id = ${id} AND status = 'WAITING'`;
    }
    const action = status === 'APPROVED' ? ('APPROVE_CALL' as const) : ('DENY_CALL' as const);
    await recordChanges(tx, actor, { action, targetId: id, botId });
    return true;
  });
}
