import type { Approval, ToolCall } from '../generated/prisma/client.ts';
import { NOTICE } from '../text/notice.ts';

/** What the notice about a settled call needs. */
export type SettledCall = Pick<
  Approval,
  'name' | 'arguments' | 'editedArguments' | 'status' | 'note'
> & { toolCall: Pick<ToolCall, 'status' | 'result'> };

/** Characters of the arguments that a notice quotes. */
const MAX_QUOTED = 2_000;

/** The message to the model about the outcome of a call that waited for approval. */
export function noticeOf(call: SettledCall): string {
  const text = call.editedArguments ?? call.arguments ?? '{}';
  const quoted = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…`.toWellFormed() : text;
  const edited = call.editedArguments === null ? '' : ' A person changed its arguments.';
  return `${NOTICE} The call ${call.name} with ${quoted} ${outcomeOf(call)}${edited} Tell the user.`;
}

function outcomeOf({ status, note, toolCall }: SettledCall): string {
  const said = note ? `: ${note}` : '.';
  switch (status) {
    case 'WAITING':
      return 'still waits for approval.';
    case 'DENIED':
      return `was denied by a person${said} It has not happened.`;
    case 'EXPIRED':
      return 'expired: nobody approved it in time. It has not happened.';
    case 'APPROVED':
      return `was approved by a person${said} ${resultOf(toolCall)}`;
  }
}

function resultOf({ status, result }: SettledCall['toolCall']): string {
  if (status === 'COMPLETED') return `Its result: ${result ?? 'not stored.'}`;
  if (status === 'FAILED') return `It failed: ${result ?? 'the reason is not stored.'}`;
  return 'Its outcome is unknown. Do not repeat it.';
}
