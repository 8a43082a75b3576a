import type { ToolCall } from '../../client/index.ts';
import type { Style } from '../terminal/style.ts';
import { duration } from '../terminal/units.ts';

/** The tool calls of a run, each with its status, arguments, request and result. Undefined without calls. */
export function toolCallsText(calls: readonly ToolCall[], style: Style): string | undefined {
  if (calls.length === 0) return undefined;
  return [style.bold('Tool calls'), ...calls.map((call) => callText(call, style))].join('\n');
}

function callText(call: ToolCall, style: Style): string {
  const { request } = call;
  const took =
    call.finishedAt === null
      ? ''
      : duration(Date.parse(call.finishedAt) - Date.parse(call.startedAt));
  const title = [
    style.bold(call.name),
    paintCall(call.status, style),
    call.httpStatus === null ? '' : `HTTP ${call.httpStatus}`,
    took,
    call.id,
  ];
  const lines = [
    title.filter(Boolean).join('  '),
    field('arguments', call.arguments === null ? 'not stored' : JSON.stringify(call.arguments)),
    ...(request ? [field('request', requestText(request))] : []),
    ...(call.result === null
      ? []
      : [field(call.status === 'failed' ? 'error' : 'result', call.result)]),
  ];
  return lines.map((line, index) => (index === 0 ? line : indented(line))).join('\n');
}

function requestText({ method, url, body }: NonNullable<ToolCall['request']>): string {
  return body === null ? `${method} ${url}` : `${method} ${url} with ${body}`;
}

const NAME_WIDTH = 'arguments'.length;

const field = (name: string, value: string) => `${name.padEnd(NAME_WIDTH)}  ${value}`;

const indented = (text: string) =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');

/** A status as text. Its colour says nothing that the text does not say. */
function paintCall(status: ToolCall['status'], style: Style): string {
  switch (status) {
    case 'completed':
      return style.green(status);
    case 'failed':
    case 'denied':
    case 'refused':
      return style.red(status);
    case 'unknown':
      return style.red('outcome unknown');
    case 'waiting':
      return style.yellow('waiting for approval');
    case 'expired':
      return style.yellow(status);
    case 'running':
      return style.cyan(status);
  }
}
