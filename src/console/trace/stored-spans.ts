import type { RunTraceQuery } from '../../operations/console/operations.ts';
import type { SpanRow } from './span-row.ts';

export type StoredSpan = NonNullable<RunTraceQuery['run']>['trace']['spans'][number];

/** The four steps of a chat, by the names that the documentation gives them. */
const STEPS: Record<string, string> = {
  load_history: 'Load history',
  inject_memory: 'Inject memory',
  merge_context: 'Merge context',
  send_to_model: 'Call model',
};

/** The rows of a stored trace: each span below the one that it belongs to. */
export function rowsOf(spans: readonly StoredSpan[]): SpanRow[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const byParent = Map.groupBy(spans, ({ parentId }) =>
    parentId !== null && ids.has(parentId) ? parentId : null,
  );
  const start = Math.min(...spans.map(({ startedAt }) => Date.parse(startedAt)));
  const below = (parent: string | null, depth: number): SpanRow[] =>
    (byParent.get(parent) ?? []).flatMap((span) => [
      rowOf(span, start, depth),
      ...below(span.spanId, depth + 1),
    ]);
  return below(null, 0);
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
    ms: durationMs,
    hasFailed: status === 'ERROR',
    attributes: isRecord(attributes) ? attributes : undefined,
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
