import type { Bucket } from './buckets.ts';
import { HEIGHT } from './chart.tsx';

/** A drawing of buckets. @param props.top the value at the end of the axis. */
type Drawing = { buckets: Bucket[]; top: number };

/** The lowest bar that is drawn for a number above zero, in units of the drawing. */
const LEAST = 1.5;

const heightOf = (value: number, top: number, height: number) =>
  value === 0 ? 0 : Math.max(LEAST, (value / top) * height);

/** Runs as bars, the failed ones at their feet. */
export function RunBars({ buckets, top }: Drawing) {
  const bar = (x: number, value: number, className: string) => {
    const height = heightOf(value, top, HEIGHT);
    return (
      <rect className={className} x={x + 0.12} y={HEIGHT - height} width={0.76} height={height} />
    );
  };
  return buckets.map(({ from, runs, failed }, at) => (
    <g key={from}>
      <rect className="chart-none" x={at + 0.12} y={HEIGHT - 1} width={0.76} height={1} />
      {bar(at, runs, 'chart-runs')}
      {bar(at, failed, 'chart-failed')}
    </g>
  ));
}

/** The median and the 95th percentile of the latency as lines, with gaps where no run finished. */
export function LatencyLines({ buckets, top }: Drawing) {
  const median = buckets.map(({ latencyP50 }) => latencyP50);
  const high = buckets.map(({ latencyP95 }) => latencyP95);
  return (
    <>
      <path className="chart-none" d={`M0 ${HEIGHT - 1}H${buckets.length}V${HEIGHT}H0Z`} />
      <path className="chart-line chart-p50" d={pathOf(median, top)} />
      <path className="chart-line chart-p95" d={pathOf(high, top)} />
    </>
  );
}

/** Tokens as an area. */
export function TokenArea({ buckets, top }: Drawing) {
  const line = pathOf(
    buckets.map(({ tokens }) => tokens),
    top,
  );
  return (
    <>
      <path className="chart-area" d={`${line}V${HEIGHT}H0Z`} />
      <path className="chart-line chart-p95" d={line} />
    </>
  );
}

/** Good ratings above the middle, bad ones below it. */
export function RatingBars({ buckets, top }: Drawing) {
  const half = HEIGHT / 2;
  return buckets.map(({ from, thumbsUp, thumbsDown }, at) => {
    const [up, down] = [heightOf(thumbsUp, top, half), heightOf(thumbsDown, top, half)];
    const place = { x: at + 0.12, width: 0.76 };
    return (
      <g key={from}>
        <rect className="chart-none" {...place} y={half - 0.5} height={1} />
        <rect className="chart-up" {...place} y={half - up} height={up} />
        <rect className="chart-down" {...place} y={half} height={down} />
      </g>
    );
  });
}

/** A line with one step for each value, so that a value between two gaps shows too. */
function pathOf(values: (number | null)[], top: number): string {
  let path = '';
  let isDown = false;
  for (const [at, value] of values.entries()) {
    if (value === null) {
      isDown = false;
      continue;
    }
    const y = (HEIGHT - (value / top) * HEIGHT).toFixed(2);
    path += isDown ? `V${y}H${at + 1}` : `M${at} ${y}H${at + 1}`;
    isDown = true;
  }
  return path || 'M0 0';
}
