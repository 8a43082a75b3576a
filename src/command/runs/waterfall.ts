import type { Span } from '../../client/index.ts';
import type { Style } from '../terminal/style.ts';
import { cut, oneLine, widthOf } from '../terminal/text-table.ts';
import { duration } from '../terminal/units.ts';

/** Columns of the output without a terminal. */
const DEFAULT_WIDTH = 100;
const MAX_NAME = 44;
const MAX_FAILURE = 24;
const MIN_BAR = 10;

/** The spans of a trace as a tree with bars on one time axis. */
export function waterfall(
  spans: readonly Span[],
  { style, width = DEFAULT_WIDTH }: { style: Style; width?: number | undefined },
): string {
  const rows = inTreeOrder(spans).map(({ span, depth }) => ({
    span,
    name: cut(`${'  '.repeat(depth)}${oneLine(span.name)}`, MAX_NAME),
    start: Date.parse(span.startedAt),
    failure: failureOf(span),
  }));
  const begin = Math.min(...rows.map(({ start }) => start));
  const end = Math.max(...rows.map(({ span, start }) => start + span.durationMs));
  const total = Math.max(end - begin, 0.001);
  const nameWidth = Math.max(...rows.map(({ name }) => widthOf(name)));
  const times = rows.map(({ span }) => duration(span.durationMs));
  const timeWidth = Math.max(...times.map((time) => time.length));
  const failureWidth = Math.max(...rows.map(({ failure }) => widthOf(failure)));
  const barWidth = Math.max(MIN_BAR, width - nameWidth - timeWidth - failureWidth - 4);
  return rows
    .map(({ span, name, start, failure }, index) => {
      const from = Math.min(barWidth - 1, Math.floor(((start - begin) / total) * barWidth));
      const length = Math.max(1, Math.round((span.durationMs / total) * barWidth));
      const bar = '█'.repeat(Math.min(length, barWidth - from));
      const isError = span.status === 'error';
      const painted = isError ? style.red(bar) : style.cyan(bar);
      const space = ' '.repeat(nameWidth - widthOf(name));
      const line = `${isError ? style.red(name) : name}${space}  ${(times[index] ?? '').padStart(timeWidth)}  `;
      return line + ' '.repeat(from) + painted + style.red(failure);
    })
    .join('\n');
}

/** The type of a failed span's error, for example of a model call before the call of a fallback model. Empty without an error. */
function failureOf({ status, attributes }: Span): string {
  if (status !== 'error') return '';
  const type = attributes['error.type'];
  return `  ${cut(oneLine(typeof type === 'string' ? type : 'failed'), MAX_FAILURE)}`;
}

/** Each span below its parent, children by their start. A span whose parent is missing is a root. */
function inTreeOrder(spans: readonly Span[]): { span: Span; depth: number }[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const children = new Map<string | null, Span[]>();
  for (const span of spans) {
    const parent = span.parentId !== null && ids.has(span.parentId) ? span.parentId : null;
    children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  const below = (parent: string | null, depth: number): { span: Span; depth: number }[] =>
    (children.get(parent) ?? []).flatMap((span) => [
      { span, depth },
      ...below(span.spanId, depth + 1),
    ]);
  return below(null, 0);
}
