import { ShownApproval } from '../../generated/operations/command.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { connect } from '../server/connection.ts';
import { facts } from '../terminal/facts.ts';
import { localTime } from '../terminal/units.ts';
import { approvalOf, paintApproval, requestText } from './approval.ts';

/** Shows one approval with the exact request, and the result of its call once it was sent. */
export async function showApproval(id: string, context: Context): Promise<void> {
  const { terminal, print, signal } = context;
  const { graphql } = await connect(context);
  const found = (await graphql.run(ShownApproval, { id }, signal)).approval;
  if (!found) throw new Refusal(`There is no approval "${id}".`);
  const call = found.call && { ...found.call, status: toLowerCase(found.call.status) };
  const approval = { ...approvalOf(found), call };
  const { style } = terminal;
  await print(approval, () => {
    const { note, editedArguments, decidedAt, followUpRunId } = approval;
    const rows: [string, string][] = [
      ['Approval', approval.id],
      ['Tool', approval.name],
      ['Status', paintApproval(approval.status, style)],
      ['User', approval.user ?? '-'],
      ['Channel', `${approval.channel} (${approval.environment})`],
      ['Run', approval.runId],
      ['Asked', localTime(approval.createdAt)],
      ['Expires', localTime(approval.expiresAt)],
      ...(decidedAt === null ? [] : ([['Decided', localTime(decidedAt)]] as [string, string][])),
      ...(note === null ? [] : ([['Note', note]] as [string, string][])),
      ...(call ? ([['Call', callText(call)]] as [string, string][]) : []),
      ...(followUpRunId === null ? [] : ([['Reported by', followUpRunId]] as [string, string][])),
    ];
    const sections = [
      ...(approval.reason === null ? [] : [['Reason', approval.reason]]),
      ['Request', requestText(approval)],
      ['Arguments', jsonText(approval.arguments)],
      ...(editedArguments === null ? [] : [['Changed arguments', jsonText(editedArguments)]]),
      ...(call?.result ? [['Result', call.result]] : []),
    ];
    return [
      facts(rows, style),
      ...sections.map(([title = '', text]) => `${style.bold(title)}\n${text}`),
    ].join('\n\n');
  });
}

function callText({ status, httpStatus }: { status: string; httpStatus: number | null }): string {
  return httpStatus === null ? status : `${status}, HTTP ${httpStatus}`;
}

function jsonText(value: unknown): string {
  return value === null ? 'not stored' : JSON.stringify(value, null, 2);
}
