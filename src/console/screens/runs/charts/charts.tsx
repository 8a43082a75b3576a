import { useMemo } from 'react';
import { RunStats } from '../../../../generated/operations/console.ts';
import { Button } from '../../../parts/button.tsx';
import { scrollArea } from '../../../parts/copy.tsx';
import { Refused } from '../../../parts/state.tsx';
import { duration } from '../../../parts/time.tsx';
import { type Filters, filterAt } from '../../../runs/filter.ts';
import { useServerQuery } from '../../../server/operations.ts';
import { type Bucket, bucketsOf } from './buckets.ts';
import { Chart } from './chart.tsx';
import './charts.css';
import { LatencyLines, RatingBars, RunBars, TokenArea } from './drawings.tsx';
import { periodOf, withoutTime } from './period.ts';

const count = (value: number) => value.toLocaleString('en');
const ratings = ({ thumbsUp, thumbsDown }: { thumbsUp: number; thumbsDown: number }) =>
  `${count(thumbsUp)}, ${count(thumbsDown)}`;
const ms = (value: number | null) => (value === null ? '–' : duration(value));

/**
 * Runs, latency and tokens over the period of the filters, by hour or by day.
 *
 * @param now the end of a period that has none, in milliseconds since the epoch.
 */
export default function Charts({
  botId,
  filters,
  now,
  onRange,
}: {
  botId: string;
  filters: Filters;
  now: number;
  onRange(from: string, to: string): void;
}) {
  const filter = useMemo(() => filterAt(filters, now), [filters, now]);
  const period = useMemo(() => periodOf(filter, now), [filter, now]);
  const { data, problem, retry } = useServerQuery(RunStats, {
    botId,
    from: new Date(period.from).toISOString(),
    to: new Date(period.to).toISOString(),
    filter: withoutTime(filter),
    byHour: period.byHour,
  });
  const stats = data?.bot?.stats;
  const buckets = useMemo(() => (stats ? bucketsOf(stats, period) : []), [stats, period]);
  if (problem && !stats)
    return (
      <div className="charts charts-failed">
        <Refused problem={problem} />
        <Button onClick={retry}>Try again</Button>
      </div>
    );
  const select = (first: Bucket, last: Bucket) =>
    onRange(new Date(first.from).toISOString(), new Date(last.to).toISOString());
  const shared = { buckets, onRange: select };
  const isUnbounded = !filter.from && !filter.date;
  return (
    <>
      <div className="charts" aria-busy={!stats} {...scrollArea('Charts')}>
        <Chart
          {...shared}
          title={isUnbounded ? 'Failed runs, 24 hours' : 'Failed runs'}
          summary={stats ? `${count(stats.failed)} of ${count(stats.runs)}` : '…'}
          textOf={({ failed, runs }) => `${count(failed)} of ${count(runs)}`}
        >
          <RunBars buckets={buckets} />
        </Chart>
        <Chart
          {...shared}
          title="p50, p95 latency"
          summary={stats ? `${ms(stats.latencyP50)}, ${ms(stats.latencyP95)}` : '…'}
          textOf={({ latencyP50, latencyP95 }) => `${ms(latencyP50)}, ${ms(latencyP95)}`}
        >
          <LatencyLines buckets={buckets} />
        </Chart>
        <Chart
          {...shared}
          title="Tokens"
          summary={stats ? count(stats.tokens) : '…'}
          textOf={({ tokens }) => count(tokens)}
        >
          <TokenArea buckets={buckets} />
        </Chart>
        <Chart
          {...shared}
          title="Rated good, bad"
          summary={stats ? ratings(stats) : '…'}
          textOf={ratings}
        >
          <RatingBars buckets={buckets} />
        </Chart>
      </div>
      <BucketTable buckets={buckets} />
    </>
  );
}

/** The numbers of the charts for screen readers. Hours and days without runs are left out. */
function BucketTable({ buckets }: { buckets: Bucket[] }) {
  return (
    <div className="unseen">
      <table>
        <caption>Runs by time</caption>
        <thead>
          <tr>
            <th>Time</th>
            <th>Runs</th>
            <th>Failed</th>
            <th>Latency p50</th>
            <th>Latency p95</th>
            <th>Tokens</th>
            <th>Rated good, bad</th>
          </tr>
        </thead>
        <tbody>
          {buckets
            .filter(({ runs }) => runs > 0)
            .map(({ from, label, runs, failed, latencyP50, latencyP95, tokens, ...rated }) => (
              <tr key={from}>
                <th scope="row">{label}</th>
                <td>{count(runs)}</td>
                <td>{count(failed)}</td>
                <td>{ms(latencyP50)}</td>
                <td>{ms(latencyP95)}</td>
                <td>{count(tokens)}</td>
                <td>{ratings(rated)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
