import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { RatingCounts } from '../../feedback/rating-counts.tsx';
import { duration, LocalTime } from '../../parts/time.tsx';
import { CHANNELS, ENTRANCES, KINDS } from '../../runs/labels.ts';
import { RunBadge } from '../run/run-badge.tsx';
import type { ShownRun } from '../run/use-run.ts';

const NONE = <span className="faint">none</span>;
const count = (value: number) => value.toLocaleString('en');

type Fact = {
  name: string;
  /** What both runs are compared by. */
  of(run: ShownRun): unknown;
  show(run: ShownRun): ReactNode;
  /** A number of which the difference shows. */
  number?(run: ShownRun): number | null;
  unit?(value: number): string;
};

const FACTS: Fact[] = [
  {
    name: 'Status',
    of: ({ status, error }) => [status, error?.code],
    show: ({ status, error }) => (
      <>
        <RunBadge status={status} />{' '}
        {error && <span className="mono">{error.code.toLowerCase()}</span>}
      </>
    ),
  },
  { name: 'Bot', of: ({ bot }) => bot.id, show: ({ bot }) => bot.name },
  {
    name: 'User',
    of: ({ user }) => user,
    show: ({ user }) => (user ? <span className="mono">{user}</span> : NONE),
  },
  {
    name: 'Environment',
    of: ({ environment }) => environment,
    show: ({ environment }) => toLowerCase(environment),
  },
  {
    name: 'Channel',
    of: ({ channel, kind }) => [channel, kind],
    show: ({ channel, kind }) => `${CHANNELS[channel]}, ${KINDS[kind]}`,
  },
  {
    name: 'Entrance',
    of: ({ entrance }) => entrance,
    show: ({ entrance }) => (entrance ? ENTRANCES[entrance] : NONE),
  },
  {
    name: 'Deployment',
    of: ({ deployment }) => deployment?.id,
    show: ({ deployment }) =>
      deployment ? (
        <>
          {deployment.message ?? 'without a message'}{' '}
          <span className="mono faint">…{deployment.id.slice(-6)}</span>
        </>
      ) : (
        NONE
      ),
  },
  { name: 'Model', of: ({ model }) => model, show: ({ model }) => model ?? NONE },
  {
    name: 'Latency',
    of: ({ latencyMs }) => latencyMs,
    show: ({ latencyMs }) => (latencyMs === null ? NONE : duration(latencyMs)),
    number: ({ latencyMs }) => latencyMs,
    unit: duration,
  },
  {
    name: 'Tokens in',
    of: ({ promptTokens }) => promptTokens,
    show: ({ promptTokens }) => count(promptTokens),
    number: ({ promptTokens }) => promptTokens,
    unit: count,
  },
  {
    name: 'Tokens out',
    of: ({ completionTokens }) => completionTokens,
    show: ({ completionTokens }) => count(completionTokens),
    number: ({ completionTokens }) => completionTokens,
    unit: count,
  },
  {
    name: 'Tools',
    of: ({ toolsCalled }) => toolsCalled.join(', '),
    show: ({ toolsCalled }) => toolsCalled.join(', ') || NONE,
  },
  {
    name: 'Feedback',
    of: ({ feedback }) => feedback.map(({ rating }) => rating).sort(),
    show: ({ feedback }) => (feedback.length > 0 ? <RatingCounts feedback={feedback} /> : NONE),
  },
];

/** The facts of both runs, and which of them differ. */
export function FactTable({ one, two }: { one: ShownRun; two: ShownRun }) {
  return (
    <table className="table compare-facts" aria-label="Facts of both runs">
      <thead>
        <tr>
          <th scope="col">
            <span className="unseen">Fact</span>
          </th>
          {[one, two].map((run, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: both may be the same run
            <th key={at} scope="col">
              <Link href={`/runs/${run.id}`}>
                {at === 0 ? 'First' : 'Second'} run{' '}
                <span className="mono">…{run.id.slice(-6)}</span>
              </Link>
              <br />
              <LocalTime at={run.createdAt} />
            </th>
          ))}
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {FACTS.map((fact) => (
          <FactRow key={fact.name} fact={fact} one={one} two={two} />
        ))}
      </tbody>
    </table>
  );
}

function FactRow({ fact, one, two }: { fact: Fact; one: ShownRun; two: ShownRun }) {
  const { name, of, show } = fact;
  const isSame = JSON.stringify(of(one)) === JSON.stringify(of(two));
  return (
    <tr className={isSame ? undefined : 'compare-differs'}>
      <th scope="row">{name}</th>
      <td>{show(one)}</td>
      <td>{show(two)}</td>
      <td className="number">
        {isSame ? <span className="faint">same</span> : difference(fact, one, two)}
      </td>
    </tr>
  );
}

function difference({ number, unit }: Fact, one: ShownRun, two: ShownRun): string {
  const [before, after] = [number?.(one), number?.(two)];
  if (before == null || after == null || !unit) return 'differs';
  const sign = after > before ? '+' : '−';
  const change = Math.abs(after - before);
  const percent = before === 0 ? '' : `, ${sign}${Math.round((change / before) * 100)} %`;
  return `${sign}${unit(change)}${percent}`;
}
