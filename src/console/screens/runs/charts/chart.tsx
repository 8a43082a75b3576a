import type { CSSProperties, ReactNode } from 'react';
import type { Tick } from './axis.ts';
import type { Bucket } from './buckets.ts';
import { useRange } from './use-range.ts';

/** Height of the drawing, in its own units. */
export const HEIGHT = 60;

/** What the charts of one period have in common. */
export type Shared = {
  buckets: Bucket[];
  times: Tick[];
  deployments: Tick[];
  onRange(first: Bucket, last: Bucket): void;
};

/** One chart over time with its axes. The bucket under the pointer or the keys shows its numbers; a range can be selected. */
export function Chart({
  title,
  legend,
  summary,
  buckets,
  times,
  deployments,
  axis,
  textOf,
  onRange,
  children,
}: Shared & {
  /** What is drawn, with its unit. */
  title: string;
  legend?: ReactNode;
  summary: string;
  /** The labels of the axis of values: at its end, its middle and its start. */
  axis: readonly [string, string, string];
  /** The numbers of one bucket. */
  textOf(bucket: Bucket): string;
  /** The drawing: one unit wide for each bucket. */
  children: ReactNode;
}) {
  const { at, range, listeners } = useRange(buckets.length, (from, to) => {
    const [first, last] = [buckets[from], buckets[to]];
    if (first && last) onRange(first, last);
  });
  const shown = at === undefined ? undefined : buckets[at];
  const [first, last] = range ? [buckets[range.first], buckets[range.last]] : [];
  const isWide = first !== undefined && last !== undefined && first !== last;
  const place = isWide ? `${first.label} – ${last.label}` : shown?.label;
  const numbers = shown && !isWide ? textOf(shown) : undefined;
  return (
    <figure className="chart">
      <figcaption>
        <span>{place ?? title}</span>
        {!shown && legend}
        {!isWide && <b className="number">{numbers ?? summary}</b>}
      </figcaption>
      <div className="chart-plot">
        <div className="chart-axis number" aria-hidden="true">
          {axis.map((label, index) => (
            <span key={['end', 'middle', 'start'][index]}>{label}</span>
          ))}
        </div>
        <div
          className="chart-drawing"
          role="slider"
          tabIndex={0}
          aria-label={`${title}: ${summary}`}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, buckets.length - 1)}
          aria-valuenow={at ?? Math.max(0, buckets.length - 1)}
          aria-valuetext={
            numbers === undefined ? (place ?? 'No time selected') : `${place}: ${numbers}`
          }
          aria-description="Arrow keys move in time. With Shift they select a range, Enter shows its runs."
          {...listeners}
        >
          <svg
            aria-hidden="true"
            viewBox={`0 0 ${Math.max(1, buckets.length)} ${HEIGHT}`}
            preserveAspectRatio="none"
          >
            {[0, HEIGHT / 2].map((y) => (
              <path key={y} className="chart-grid" d={`M0 ${y}H${buckets.length}`} />
            ))}
            {children}
            {range && (
              <rect
                className="chart-cursor"
                x={range.first}
                y={0}
                width={range.last - range.first + 1}
                height={HEIGHT}
              />
            )}
          </svg>
          {deployments.map((tick) => (
            <Deployment key={tick.at} tick={tick} />
          ))}
        </div>
        <div className="chart-times number" aria-hidden="true">
          {times.map((tick) => (
            <span key={tick.at} style={placeOf(tick)}>
              {tick.label}
            </span>
          ))}
        </div>
      </div>
    </figure>
  );
}

/** A line with the version. Near the end of the period, the version stands before the line, so that it stays in the chart. */
function Deployment({ tick }: { tick: Tick }) {
  if (tick.at < NEAR_END)
    return (
      <span className="chart-deployment" style={placeOf(tick)}>
        {tick.label}
      </span>
    );
  return (
    <span
      className="chart-deployment chart-deployment-late"
      style={{ insetInlineEnd: `${(1 - tick.at) * 100}%` }}
    >
      {tick.label}
    </span>
  );
}

/** The place in a chart, from 0 to 1, after which a version has no room at its right side. */
const NEAR_END = 0.85;

function placeOf({ at }: Tick): CSSProperties {
  return at === 1 ? { insetInlineEnd: 0 } : { insetInlineStart: `${at * 100}%` };
}
