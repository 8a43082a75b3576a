import {
  type ApprovalFactsFragment,
  ListedApprovals,
  type ListedApprovalsQuery,
} from '../../generated/operations/command.ts';
import type { APPROVAL_STATUS_NAMES } from '../../vocabulary/approvals.ts';
import { toUpperCase } from '../../vocabulary/names.ts';
import type { Context } from '../context.ts';
import { connect } from '../server/connection.ts';
import { cut, oneLine, textTable } from '../terminal/text-table.ts';
import { localTime } from '../terminal/units.ts';
import { approvalOf, paintApproval, requestText } from './approval.ts';

type ListOptions = {
  bot: string | undefined;
  /** None: approvals in every state. */
  status: (typeof APPROVAL_STATUS_NAMES)[number] | undefined;
  limit: number;
};

const MAX_USER = 24;

/** Lists the tool calls of a bot that wait for a person, or that a person has decided, newest first. */
export async function listApprovals(
  { bot, status, limit }: ListOptions,
  context: Context,
): Promise<void> {
  const { terminal, print, signal } = context;
  const { graphql, botId, forBot } = await connect(context);
  const id = botId(bot);
  const found = await forBot(id, async () => {
    const all: ApprovalFactsFragment[] = [];
    for (let after: string | null = null; all.length < limit; ) {
      const first = Math.min(limit - all.length, 100);
      const variables = { botId: id, status: status && toUpperCase(status), first, after };
      const answer: ListedApprovalsQuery = await graphql.run(ListedApprovals, variables, signal);
      const { edges, pageInfo } = answer.bot?.approvals ?? { edges: [], pageInfo: LAST_PAGE };
      all.push(...edges.map(({ node }) => node));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    return all;
  });
  const approvals = found.map(approvalOf);
  await print(approvals, () =>
    approvals.length === 0
      ? `${id} has no ${status === 'waiting' ? 'calls that wait for approval' : 'such approvals'}.`
      : textTable(
          [
            { title: 'ID', paint: terminal.style.bold },
            { title: 'STATUS', paint: (cell) => paintApproval(cell, terminal.style) },
            { title: 'TOOL' },
            { title: 'USER' },
            { title: 'ASKED' },
            { title: 'EXPIRES' },
            { title: 'REQUEST' },
          ],
          approvals.map((one) => [
            one.id,
            one.status,
            one.name,
            cut(oneLine(one.user ?? '-'), MAX_USER),
            localTime(one.createdAt),
            localTime(one.expiresAt),
            requestText(one),
          ]),
          terminal,
        ),
  );
}

const LAST_PAGE = { hasNextPage: false, endCursor: null };
