import { count } from '../../../numbers.ts';
import { Refused } from '../../../parts/state.tsx';
import type { Problem } from '../../../server/problem.ts';
import { roundUp, shortCount } from './axis.ts';
import type { Bucket, Ratings, Stats } from './buckets.ts';
import { Chart, type Shared } from './chart.tsx';
import { LatencyLines, RatingBars, RunBars, TokenArea } from './drawings.tsx';
import { latency, ratings } from './texts.ts';

type MeasureProps = Shared & {
  title: string;
  /** The numbers of the whole period. Absent until they are read. */
  stats: Stats | undefined;
};

const most = (buckets: Bucket[], of: (bucket: Bucket) => number) => Math.max(0, ...buckets.map(of));

/** The labels of an axis of counts. */
const counts = (top: number) => [shortCount(top), shortCount(top / 2), '0'] as const;

/** Runs, with the failed ones among them. */
export function RunChart({ stats, ...shared }: MeasureProps) {
  const top = roundUp(most(shared.buckets, ({ runs }) => runs));
  return (
    <Chart
      {...shared}
      legend={<Legend names={{ runs: 'all', failed: 'failed' }} />}
      summary={stats ? failedOf(stats) : '…'}
      axis={counts(top)}
      textOf={failedOf}
    >
      <RunBars buckets={shared.buckets} top={top} />
    </Chart>
  );
}

/** The median and the 95th percentile of the latency. */
export function LatencyChart({ stats, title, ...shared }: MeasureProps) {
  const highest = most(shared.buckets, ({ latencyP95 }) => latencyP95 ?? 0);
  const isLong = highest >= 1_000;
  const top = isLong ? roundUp(highest / 1_000) * 1_000 : roundUp(highest);
  const label = (value: number) => shortCount(isLong ? value / 1_000 : value);
  return (
    <Chart
      {...shared}
      title={`${title}, ${isLong ? 's' : 'ms'}`}
      legend={<Legend names={{ p50: 'p50', p95: 'p95' }} />}
      summary={stats ? percentilesOf(stats) : '…'}
      axis={[label(top), label(top / 2), '0']}
      textOf={percentilesOf}
    >
      <LatencyLines buckets={shared.buckets} top={top} />
    </Chart>
  );
}

/** Tokens of prompts and replies together. */
export function TokenChart({ stats, ...shared }: MeasureProps) {
  const top = roundUp(most(shared.buckets, ({ tokens }) => tokens));
  return (
    <Chart
      {...shared}
      summary={stats ? count(stats.tokens) : '…'}
      axis={counts(top)}
      textOf={({ tokens }) => count(tokens)}
    >
      <TokenArea buckets={shared.buckets} top={top} />
    </Chart>
  );
}

/** Good ratings upwards, bad ones downwards. */
export function RatingChart({
  ratings: all,
  ...shared
}: Omit<MeasureProps, 'stats'> & { ratings: Ratings | undefined }) {
  const top = roundUp(
    most(shared.buckets, ({ thumbsUp, thumbsDown }) => Math.max(thumbsUp, thumbsDown)),
  );
  return (
    <Chart
      {...shared}
      legend={<Legend names={{ up: 'good', down: 'bad' }} />}
      summary={all ? ratings(all) : '…'}
      axis={[shortCount(top), '0', shortCount(top)]}
      textOf={ratings}
    >
      <RatingBars buckets={shared.buckets} top={top} />
    </Chart>
  );
}

/** Says in place of the chart why it has no ratings. */
export function UnknownRatings({ title, problem }: { title: string; problem: Problem }) {
  return (
    <figure className="chart">
      <figcaption>
        <span>{title}</span>
      </figcaption>
      <Refused problem={problem} />
    </figure>
  );
}

const failedOf = ({ failed, runs }: { failed: number; runs: number }) =>
  `${count(failed)} of ${count(runs)} failed`;

const percentilesOf = (of: { latencyP50: number | null; latencyP95: number | null }) =>
  `${latency(of.latencyP50)}, ${latency(of.latencyP95)}`;

/** The marks of a chart with their meanings, by the endings of their class names. */
function Legend({ names }: { names: Readonly<Record<string, string>> }) {
  return (
    <span className="chart-legend">
      {Object.entries(names).map(([mark, name]) => (
        <span key={mark}>
          <i className={`chart-mark chart-mark-${mark}`} />
          {name}
        </span>
      ))}
    </span>
  );
}
