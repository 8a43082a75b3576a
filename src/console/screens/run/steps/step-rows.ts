import { isFailedCall, TOOL_STATUSES } from '../../../tool-calls/labels.ts';
import type { ToolCallRecord } from '../../../tool-calls/tool-call-details.tsx';
import type { SpanRow } from '../../../trace/span-row.ts';
import { callOf } from './use-tool-calls.ts';

/** The steps of a run: its spans, each tool call with its outcome, and the calls without a span. */
export function withCalls(
  rows: readonly SpanRow[],
  calls: readonly ToolCallRecord[],
  createdAt: number,
): SpanRow[] {
  const known = new Set<string>();
  const steps = rows.map((row) => {
    const call = row.kind === 'tool' ? callOf(row, calls) : undefined;
    if (!call) return row;
    known.add(call.id);
    return { ...row, ...outcomeOf(call) };
  });
  const others = calls
    .filter(({ id }) => !known.has(id))
    .map((call): SpanRow => {
      const from = Math.max(0, Date.parse(call.startedAt) - createdAt);
      const { id, name, durationMs } = call;
      const place = { id, label: name, depth: 1, kind: 'tool' as const, from, ms: durationMs ?? 0 };
      return { ...place, ...outcomeOf(call) };
    });
  return [...steps, ...others];
}

/** A call that completed needs no word. */
function outcomeOf({ status, httpStatus }: ToolCallRecord) {
  const hasFailed = isFailedCall(status);
  const { word } = TOOL_STATUSES[status];
  if (status === 'COMPLETED') return { hasFailed, failure: undefined };
  return { hasFailed, failure: hasFailed && httpStatus ? String(httpStatus) : word };
}

/** The step to open a run with: the first failure, else a tool call, else a call of the model. */
export function firstStep(rows: readonly SpanRow[]): SpanRow | undefined {
  const isCall = ({ kind }: SpanRow) => kind === 'tool' || kind === 'model';
  return (
    rows.find((row) => row.hasFailed && isCall(row)) ??
    rows.find(({ hasFailed }) => hasFailed) ??
    rows.find(({ kind }) => kind === 'tool') ??
    rows.find(({ kind }) => kind === 'model') ??
    rows[0]
  );
}

/** The tool calls that a call of the model asked for: the ones before the next call of the model. */
export function callsAfter(rows: readonly SpanRow[], row: SpanRow): SpanRow[] {
  const rest = rows.slice(rows.indexOf(row) + 1);
  const end = rest.findIndex(({ kind }) => kind === 'model');
  return (end === -1 ? rest : rest.slice(0, end)).filter(({ kind }) => kind === 'tool');
}

/** The tool calls before a call of the model, whose results it was sent. */
export function callsBefore(rows: readonly SpanRow[], row: SpanRow): SpanRow[] {
  return rows.slice(0, rows.indexOf(row)).filter(({ kind }) => kind === 'tool');
}
