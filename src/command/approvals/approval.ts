import type { ApprovalFactsFragment } from '../../generated/operations/command.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import type { Style } from '../terminal/style.ts';

/** Converts an approval to its form in JSON, with the names of REST. */
export function approvalOf(approval: ApprovalFactsFragment) {
  return {
    ...approval,
    status: toLowerCase(approval.status),
    environment: toLowerCase(approval.environment),
    channel: toLowerCase(approval.channel),
  };
}

export function paintApproval(status: string, style: Style): string {
  switch (status.trim()) {
    case 'waiting':
      return style.yellow(status);
    case 'approved':
      return style.green(status);
    case 'denied':
      return style.red(status);
    default:
      return style.cyan(status);
  }
}

/** The request of a call as a sentence, such as `POST https://api.example/refunds with {"id":1}`. */
export function requestText({
  name,
  request,
  arguments: fromModel,
  editedArguments,
}: Pick<ApprovalFactsFragment, 'name' | 'request' | 'arguments' | 'editedArguments'>): string {
  if (request)
    return `${request.method} ${request.url}${request.body === null ? '' : ` with ${request.body}`}`;
  const used = editedArguments ?? fromModel;
  return used === null ? name : `${name} with ${JSON.stringify(used)}`;
}
