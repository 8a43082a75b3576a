import type { RunTraceQuery } from '../../generated/operations/console.ts';
import { isRecord } from '../server/record.ts';
import type { SpanRow } from './span-row.ts';

export type StoredSpan = NonNullable<RunTraceQuery['run']>['trace']['spans'][number];

/** The four steps of a chat, by the names that the documentation gives them. */
const STEPS: Record<string, string> = {
  load_history: 'Load history',
  inject_memory: 'Inject memory',
  merge_context: 'Merge context',
  send_to_model: 'Call model',
};

/**
 * The rows of a stored trace: each span below its parent. A span whose parent is missing, or is below
 * the span itself, stands at the top level.
 */
export function rowsOf(spans: readonly StoredSpan[]): SpanRow[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const byParent = Map.groupBy(spans, ({ parentId }) =>
    parentId !== null && ids.has(parentId) ? parentId : null,
  );
  const start = Math.min(...spans.map(({ startedAt }) => Date.parse(startedAt)));
  const rows = new Map<string, SpanRow>();
  const add = (first: readonly StoredSpan[]) => {
    const waiting = first.map((span) => ({ span, depth: 0 })).reverse();
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { span, depth } = next;
      if (rows.has(span.spanId)) continue;
      rows.set(span.spanId, rowOf(span, start, depth));
      const below = byParent.get(span.spanId) ?? [];
      waiting.push(...below.map((child) => ({ span: child, depth: depth + 1 })).reverse());
    }
  };
  add(byParent.get(null) ?? []);
  add(spans);
  return [...rows.values()];
}

function rowOf(span: StoredSpan, start: number, depth: number): SpanRow {
  const { spanId, name, startedAt, durationMs, status, attributes } = span;
  const [operation = name] = name.split(' ', 1);
  const detail = name.slice(operation.length + 1) || undefined;
  return {
    id: spanId,
    label: STEPS[operation] ?? operation,
    detail,
    depth,
    kind: operation === 'chat' ? 'model' : operation === 'execute_tool' ? 'tool' : 'step',
    from: Date.parse(startedAt) - start,
    // A clock that steps back makes a negative duration.
    ms: Math.max(0, durationMs),
    hasFailed: status === 'ERROR',
    attributes: isRecord(attributes) ? attributes : undefined,
  };
}
