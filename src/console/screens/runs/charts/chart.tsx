import { type PointerEvent, type ReactNode, useState } from 'react';
import type { Bucket } from './buckets.ts';

/** Height of the drawing, in its own units. */
export const HEIGHT = 52;

/** One chart over time. The bucket under the pointer shows its numbers, and a drag selects a range of buckets. */
export function Chart({
  title,
  summary,
  buckets,
  textOf,
  onRange,
  children,
}: {
  title: string;
  summary: string;
  buckets: Bucket[];
  /** The numbers of one bucket. */
  textOf(bucket: Bucket): string;
  onRange(first: Bucket, last: Bucket): void;
  /** The drawing: one unit wide for each bucket. */
  children: ReactNode;
}) {
  const [at, setAt] = useState<number>();
  const [start, setStart] = useState<number>();
  const hovered = at === undefined ? undefined : buckets[at];
  const indexOf = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const index = Math.floor(((clientX - left) / width) * buckets.length);
    return Math.max(0, Math.min(buckets.length - 1, index));
  };
  const [first, last] = [Math.min(start ?? 0, at ?? 0), Math.max(start ?? 0, at ?? 0)];
  return (
    <figure className="chart">
      <figcaption>
        <span>{hovered ? hovered.label : title}</span>
        <b className="number">{hovered ? textOf(hovered) : summary}</b>
      </figcaption>
      <svg
        role="img"
        aria-label={`${title}: ${summary}`}
        viewBox={`0 0 ${Math.max(1, buckets.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setStart(indexOf(event));
        }}
        onPointerMove={(event) => setAt(indexOf(event))}
        onPointerLeave={() => {
          setAt(undefined);
          setStart(undefined);
        }}
        onPointerUp={(event) => {
          const end = indexOf(event);
          const range = start === undefined ? [] : [start, end].sort((one, two) => one - two);
          const [from, to] = range.map((index) => buckets[index]);
          setStart(undefined);
          if (from && to && from !== to) onRange(from, to);
        }}
      >
        {children}
        {at !== undefined && (
          <rect
            className="chart-cursor"
            x={start === undefined ? at : first}
            y={0}
            width={start === undefined ? 1 : last - first + 1}
            height={HEIGHT}
          />
        )}
      </svg>
    </figure>
  );
}
