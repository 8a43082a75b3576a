import type { Bucket } from './buckets.ts';
import { HEIGHT } from './chart.tsx';

/** Space above the highest value, for the width of its line. */
const TOP = 3;

/** Runs as bars, the failed ones at their feet. */
export function RunBars({ buckets }: { buckets: Bucket[] }) {
  const most = Math.max(1, ...buckets.map(({ runs }) => runs));
  const bar = (x: number, value: number, className: string) => {
    const height = value === 0 ? 0 : Math.max(1.5, (value / most) * HEIGHT);
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
export function LatencyLines({ buckets }: { buckets: Bucket[] }) {
  const most = Math.max(1, ...buckets.map(({ latencyP95 }) => latencyP95 ?? 0));
  const line = (values: (number | null)[], className: string) => (
    <path className={className} d={pathOf(values, most)} />
  );
  return (
    <>
      {line(
        buckets.map(({ latencyP50 }) => latencyP50),
        'chart-line chart-p50',
      )}
      {line(
        buckets.map(({ latencyP95 }) => latencyP95),
        'chart-line chart-p95',
      )}
    </>
  );
}

/** Tokens as an area. */
export function TokenArea({ buckets }: { buckets: Bucket[] }) {
  const most = Math.max(1, ...buckets.map(({ tokens }) => tokens));
  const line = pathOf(
    buckets.map(({ tokens }) => tokens),
    most,
  );
  return (
    <>
      <path className="chart-area" d={`${line}V${HEIGHT}H0Z`} />
      <path className="chart-line chart-p95" d={line} />
    </>
  );
}

/** Good ratings above the middle, bad ones below it. */
export function RatingBars({ buckets }: { buckets: Bucket[] }) {
  const half = HEIGHT / 2;
  const most = Math.max(
    1,
    ...buckets.flatMap(({ thumbsUp, thumbsDown }) => [thumbsUp, thumbsDown]),
  );
  const heightOf = (value: number) => (value === 0 ? 0 : Math.max(1.5, (value / most) * half));
  return buckets.map(({ from, thumbsUp, thumbsDown }, at) => {
    const [up, down] = [heightOf(thumbsUp), heightOf(thumbsDown)];
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
function pathOf(values: (number | null)[], most: number): string {
  let path = '';
  let isDown = false;
  for (const [at, value] of values.entries()) {
    if (value === null) {
      isDown = false;
      continue;
    }
    const y = (HEIGHT - TOP / 2 - (value / most) * (HEIGHT - TOP)).toFixed(2);
    path += isDown ? `V${y}H${at + 1}` : `M${at} ${y}H${at + 1}`;
    isDown = true;
  }
  return path || 'M0 0';
}
