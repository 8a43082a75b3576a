import {
  type ApprovalDecision,
  DecideApproval,
  type WholeApprovalFragment,
} from '../../generated/operations/console.ts';
import { useMutate } from '../server/operations.ts';

type Made = {
  decision: ApprovalDecision;
  note?: string | undefined;
  /** In place of all arguments of the model. */
  arguments?: Record<string, unknown> | undefined;
};

/** Decides on a call that waits. @param onDecided called with the decided call, and without one after a refusal. */
export function useDecision(
  { id, botId }: { id: string; botId: string },
  onDecided: (approval: WholeApprovalFragment | undefined) => void,
) {
  const { isBusy, problem, run } = useMutate(DecideApproval, ['Run']);
  const decide = async ({ decision, note, arguments: edited }: Made) => {
    if (isBusy) return;
    const answer = await run({
      id,
      botId,
      decision,
      note: note?.trim() || null,
      arguments: edited ?? null,
    });
    onDecided(answer.data?.decideApproval ?? undefined);
  };
  return { isBusy, problem, decide };
}
