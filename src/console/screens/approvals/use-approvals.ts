import { useMemo } from 'react';
import {
  type ApprovalStatus,
  Approvals,
  type ApprovalsQuery,
  type Environment,
  type ListedApprovalFragment,
} from '../../../generated/operations/console.ts';
import { useApprovalChanges } from '../../approvals/use-approval-changes.ts';
import { type Pages, usePages } from '../../server/use-pages.ts';

/** Approvals of one page. */
const PAGE = 30;

export type ListedApproval = ListedApprovalFragment;

/**
 * The approvals of a bot in one state or in all, newest first, page by page. It follows their changes: a listed one
 * changes in its place, so that nothing moves while a person decides.
 *
 * @param status null: every state.
 * @param environment of the calls. Absent: both.
 */
export function useApprovals(
  botId: string,
  status: ApprovalStatus | null,
  environment: Environment | undefined,
): Pages<ListedApproval> {
  const variables = useMemo(() => ({ botId, status, environment }), [botId, status, environment]);
  const pages = usePages(Approvals, { size: PAGE, variables }, toPage);
  useApprovalChanges({ botId }, (change) => {
    const approval = change?.approval;
    if (!approval) return pages.readAgain();
    const isListed = pages.rows.some(({ id }) => id === approval.id);
    if (isListed) return pages.change((rows) => withChange(rows, approval));
    const isShown = environment === undefined || environment === approval.environment;
    if (isShown && (status === null || status === approval.status)) pages.readAgain();
    return undefined;
  });
  return pages;
}

/** The rows with another state of one of them. */
export function withChange(rows: ListedApproval[], changed: ListedApproval): ListedApproval[] {
  return rows.map((row) => (row.id === changed.id ? changed : row));
}

function toPage({ bot }: ApprovalsQuery) {
  if (!bot) return undefined;
  const { edges, pageInfo } = bot.approvals;
  return { rows: edges.map(({ node }): ListedApproval => node), head: undefined, pageInfo };
}
