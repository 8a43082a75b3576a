import type { Approval } from '../../generated/prisma/client.ts';
import { readToolRequest } from '../../runs/tool-calls/tool-call.ts';
import type { Html } from './api.ts';
import { escapeHtml } from './html.ts';

/** What the message about an approval shows. */
export type ShownApproval = Pick<
  Approval,
  | 'name'
  | 'reason'
  | 'arguments'
  | 'editedArguments'
  | 'request'
  | 'status'
  | 'note'
  | 'sessionId'
  | 'expiresAt'
  | 'decidedAt'
  | 'decidedInChat'
>;

/** Characters of each part, so that a message stays below Telegram's limit of 4,096. */
const MAX = { name: 200, reason: 500, request: 1_800, user: 200, note: 500 };

/** The message about an approval in an operator's chat: the request, and the decision once there is one. */
export function approvalText(approval: ShownApproval, chatId: number): Html {
  const { name, reason, sessionId, expiresAt, status, note } = approval;
  const lines: [html: string, plain: string][] = [
    bold('Approval: ', name, MAX.name),
    ...(reason ? [text('', reason, MAX.reason)] : []),
    code(requestOf(approval)),
    ...(sessionId === null ? [] : [text('User: ', sessionId, MAX.user)]),
    status === 'WAITING'
      ? text('Expires: ', timeOf(expiresAt))
      : bold('', outcomeOf(approval, chatId)),
    ...(note ? [text('Note: ', note, MAX.note)] : []),
  ];
  return {
    html: lines.map(([html]) => html).join('\n'),
    plain: lines.map(([, plain]) => plain).join('\n'),
  };
}

/** The request as a sentence, such as `POST https://api.example/refunds with {"amount":5}`. */
function requestOf({ name, request, arguments: own, editedArguments }: ShownApproval): string {
  const sent = readToolRequest(request);
  if (sent)
    return `${sent.method} ${sent.url}${sent.body === undefined ? '' : ` with ${sent.body}`}`;
  return `${name} with ${editedArguments ?? own ?? 'arguments that are no longer stored'}`;
}

function outcomeOf({ status, decidedAt, decidedInChat }: ShownApproval, chatId: number): string {
  if (status === 'EXPIRED') return 'Expired. It was not sent.';
  const how = status === 'APPROVED' ? 'Approved' : 'Denied';
  const where =
    decidedInChat === null
      ? 'by an API key'
      : decidedInChat === BigInt(chatId)
        ? 'in this chat'
        : `in the chat ${decidedInChat}`;
  return `${how} ${where}, ${decidedAt ? timeOf(decidedAt) : ''}`;
}

const timeOf = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function cut(value: string, max: number): string {
  return value.length > max ? `${value.slice(0, max)}…`.toWellFormed() : value;
}

function text(title: string, value: string, max = 100): [string, string] {
  const plain = title + cut(value, max);
  return [escapeHtml(plain), plain];
}

function bold(title: string, value: string, max = 100): [string, string] {
  const [html, plain] = text(title, value, max);
  return [`<b>${html}</b>`, plain];
}

function code(value: string): [string, string] {
  const [html, plain] = text('', value, MAX.request);
  return [`<pre>${html}</pre>`, plain];
}
