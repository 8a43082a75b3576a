import type { RunTraceQuery } from '../../generated/operations/console.ts';
import { isRecord } from '../server/record.ts';
import type { SpanRow } from './span-row.ts';

export type StoredSpan = NonNullable<RunTraceQuery['run']>['trace']['spans'][number];

/** The names of steps for people, by the names of spans. */
const STEPS: Record<string, Pick<SpanRow, 'label' | 'kind'>> = {
  invoke_agent: { label: 'Run', kind: 'run' },
  load_history: { label: 'Load history', kind: 'history' },
  inject_memory: { label: 'Inject memory', kind: 'memory' },
  merge_context: { label: 'Merge context', kind: 'context' },
  send_to_model: { label: 'Model and tools', kind: 'step' },
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
  let modelCalls = 0;
  const add = (first: readonly StoredSpan[]) => {
    const waiting = first.map((span) => ({ span, depth: 0 })).reverse();
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { span, depth } = next;
      if (rows.has(span.spanId)) continue;
      const row = rowOf(span, start, depth);
      if (row.kind === 'model') row.label = `Model call ${++modelCalls}`;
      rows.set(span.spanId, row);
      const below = byParent.get(span.spanId) ?? [];
      waiting.push(...below.map((child) => ({ span: child, depth: depth + 1 })).reverse());
    }
  };
  add(byParent.get(null) ?? []);
  add(spans);
  return [...rows.values()];
}

function rowOf(span: StoredSpan, start: number, depth: number): SpanRow {
  const { spanId, name, startedAt, durationMs, status } = span;
  const [operation = name] = name.split(' ', 1);
  const subject = name.slice(operation.length + 1) || undefined;
  const attributes = isRecord(span.attributes) ? span.attributes : undefined;
  const hasFailed = status === 'ERROR';
  return {
    id: spanId,
    ...namesOf(operation, subject),
    depth,
    from: Date.parse(startedAt) - start,
    // A clock that steps back makes a negative duration.
    ms: Math.max(0, durationMs),
    hasFailed,
    failure: hasFailed ? failureOf(attributes) : undefined,
    attributes,
  };
}

function namesOf(operation: string, subject: string | undefined) {
  if (operation === 'chat') return { label: 'Model call', detail: subject, kind: 'model' as const };
  if (operation === 'execute_tool')
    return { label: subject ?? 'Tool', detail: undefined, kind: 'tool' as const };
  const step = STEPS[operation] ?? { label: operation, kind: 'step' as const };
  return { ...step, detail: subject };
}

/** The HTTP status or the type of the error. */
function failureOf(attributes: Record<string, unknown> = {}): string {
  const failure = attributes['http.response.status_code'] ?? attributes['error.type'];
  return failure === undefined ? 'failed' : String(failure);
}
