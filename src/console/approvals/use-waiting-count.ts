import { type Environment, WaitingApprovals } from '../../generated/operations/console.ts';
import { useServerQuery } from '../server/operations.ts';
import { useOptionalViewer } from '../server/viewer.ts';
import { useApprovalChanges } from './use-approval-changes.ts';

/**
 * The number of tool calls of a bot that wait for approval, live; 0 for a key that may not decide.
 *
 * @param environment undefined: in both.
 */
export function useWaitingCount(
  botId: string | undefined,
  environment: Environment | undefined,
): number {
  const mayDecide = useOptionalViewer()?.apiKey.scopes.includes('APPROVE') ?? false;
  const followed = mayDecide ? botId : undefined;
  const pause = followed === undefined;
  const variables = { botId: followed ?? '', environment: environment ?? null };
  const { data, retry } = useServerQuery(WaitingApprovals, variables, { pause });
  useApprovalChanges(followed === undefined ? undefined : { botId: followed }, retry);
  return followed !== undefined && data?.bot?.id === followed ? data.bot.approvalsWaiting : 0;
}
