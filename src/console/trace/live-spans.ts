import { isOpen, type Turn } from '../chat/turn.ts';
import { isFailedCall, TOOL_STATUSES } from '../tool-calls/labels.ts';
import type { SpanRow } from './span-row.ts';

/**
 * The rows that the events of a reply allow to draw while it runs, and for a key that may not read traces. Their times
 * come from the browser's clock.
 */
export function liveRows(turn: Turn): SpanRow[] {
  const { pieces, startedMs, latencyMs } = turn;
  const isOver = !isOpen(turn);
  const row = (id: string, label: string, more: Partial<SpanRow>): SpanRow => ({
    id,
    label,
    depth: 0,
    kind: 'step',
    from: 0,
    hasFailed: false,
    ...more,
  });
  const hasFailed = turn.state === 'failed';
  const root = row('root', 'Run', {
    kind: 'run',
    ms: isOver ? (latencyMs ?? 0) : undefined,
    hasFailed,
  });
  if (startedMs === undefined) return [root];
  const rows = [
    root,
    row('before', 'Queue and steps before the model', { depth: 1, ms: startedMs }),
  ];
  let callFrom: number | undefined = startedMs;
  let modelCalls = 0;
  const closeCall = (to: number | undefined) => {
    if (callFrom === undefined) return;
    const ms = to === undefined ? undefined : to - callFrom;
    rows.push(
      row(`model-${callFrom}`, `Model call ${++modelCalls}`, {
        depth: 1,
        kind: 'model',
        from: callFrom,
        ms,
      }),
    );
    callFrom = undefined;
  };
  for (const piece of pieces) {
    if (piece.type === 'text') {
      callFrom ??= piece.from;
      continue;
    }
    const { callId, name, from, ms, status } = piece;
    closeCall(from);
    rows.push(
      row(callId, name, {
        depth: 1,
        kind: 'tool',
        from,
        ms: status === 'RUNNING' ? undefined : (ms ?? 0),
        hasFailed: isFailedCall(status),
        failure: status && isFailedCall(status) ? TOOL_STATUSES[status].word : undefined,
      }),
    );
    // Tools of one answer run at the same time. The model is called again when all of them are over.
  }
  const tools = pieces.filter((piece) => piece.type === 'tool');
  const isWaiting = tools.some(({ status }) => status === 'RUNNING');
  if (callFrom === undefined && !isOver && !isWaiting)
    callFrom = Math.max(...tools.map(({ from, ms = 0 }) => from + ms));
  closeCall(isOver ? latencyMs : undefined);
  return rows;
}
