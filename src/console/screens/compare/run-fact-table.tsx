import { Link } from 'wouter';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { type ComparedFact, FactTable } from '../../diff/fact-table.tsx';
import { RatingCounts } from '../../feedback/rating-counts.tsx';
import { count } from '../../numbers.ts';
import { duration, LocalTime } from '../../parts/time.tsx';
import { CHANNELS, ENTRANCES, KINDS } from '../../runs/labels.ts';
import { RunBadge } from '../../runs/run-badge.tsx';
import type { ShownRun } from '../run/use-run.ts';

const NONE = <span className="faint">none</span>;

const FACTS: ComparedFact<ShownRun>[] = [
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
export function RunFactTable({ one, two }: { one: ShownRun; two: ShownRun }) {
  return (
    <FactTable
      label="Facts of both runs"
      facts={FACTS}
      items={[one, two]}
      heads={[
        <Head key="one" title="First run" run={one} />,
        <Head key="two" title="Second run" run={two} />,
      ]}
    />
  );
}

function Head({ title, run }: { title: string; run: ShownRun }) {
  return (
    <>
      <Link href={`/runs/${run.id}`}>
        {title} <span className="mono">…{run.id.slice(-6)}</span>
      </Link>
      <br />
      <LocalTime at={run.createdAt} />
    </>
  );
}
