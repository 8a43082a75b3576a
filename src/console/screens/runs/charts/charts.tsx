import { useMemo } from 'react';
import { RunRatings, RunStats } from '../../../../generated/operations/console.ts';
import { count } from '../../../numbers.ts';
import { Button } from '../../../parts/button.tsx';
import { Refused } from '../../../parts/state.tsx';
import { type Filters, filterAt } from '../../../runs/filter.ts';
import { useServerQuery } from '../../../server/operations.ts';
import { deploymentTicks, timeTicks } from './axis.ts';
import { type Bucket, bucketsOf } from './buckets.ts';
import type { Shared } from './chart.tsx';
import './charts.css';
import { LatencyChart, RatingChart, RunChart, TokenChart, UnknownRatings } from './measures.tsx';
import { periodOf, withoutTime } from './period.ts';
import { latency, ratings } from './texts.ts';

/**
 * Runs, latency, tokens and ratings over the period of the filters, by hour or by day, with the deployments.
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
  const asked = {
    botId,
    from: new Date(period.from).toISOString(),
    to: new Date(period.to).toISOString(),
    filter: withoutTime(filter),
    byHour: period.byHour,
  };
  const { data, problem, retry } = useServerQuery(RunStats, {
    ...asked,
    environment: filter.environment ?? null,
  });
  const stats = data?.bot?.stats;
  // Ratings may be too many to count where the runs are not. A search of texts takes time, so its runs are first.
  const isRefused = problem !== undefined && !stats;
  const rated = useServerQuery(RunRatings, asked, {
    pause: isRefused || (filter.text != null && !stats),
  });
  const counted = rated.data?.bot?.stats;
  const buckets = useMemo(
    () => (stats ? bucketsOf(stats, counted, period) : []),
    [stats, counted, period],
  );
  if (isRefused)
    return (
      <div className="charts charts-failed">
        <Refused problem={problem} />
        {problem.code !== 'SEARCH_TOO_BROAD' && <Button onClick={retry}>Try again</Button>}
      </div>
    );
  const select = (first: Bucket, last: Bucket) =>
    onRange(new Date(first.from).toISOString(), new Date(last.to).toISOString());
  const shared: Shared = {
    buckets,
    onRange: select,
    times: timeTicks(buckets, period, now),
    deployments: deploymentTicks(
      data?.bot?.deployments.edges.map(({ node }) => node) ?? [],
      buckets,
    ),
  };
  const unit = period.byHour ? 'an hour' : 'a day';
  return (
    <>
      <section className="charts" aria-label="Charts" aria-busy={!stats}>
        <RunChart {...shared} title={`Runs ${unit}`} stats={stats} />
        <LatencyChart {...shared} title="Latency" stats={stats} />
        <TokenChart {...shared} title={`Tokens ${unit}`} stats={stats} />
        {rated.problem && !counted ? (
          <UnknownRatings problem={rated.problem} title={`Ratings ${unit}`} />
        ) : (
          <RatingChart {...shared} title={`Ratings ${unit}`} ratings={counted} />
        )}
      </section>
      <BucketTable buckets={buckets} isRated={counted !== undefined} />
    </>
  );
}

/** The numbers of the charts for screen readers. Hours and days without runs are left out. */
function BucketTable({ buckets, isRated }: { buckets: Bucket[]; isRated: boolean }) {
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
            {isRated && <th>Rated good, bad</th>}
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
                <td>{latency(latencyP50)}</td>
                <td>{latency(latencyP95)}</td>
                <td>{count(tokens)}</td>
                {isRated && <td>{ratings(rated)}</td>}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
