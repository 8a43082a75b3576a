import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Environment } from '../../../generated/operations/console.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { environmentParameter, useEnvironment } from '../../frame/environments.ts';
import { count } from '../../numbers.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { Skeleton } from '../../parts/state.tsx';
import { Status } from '../../parts/status.tsx';
import { duration, RelativeTime } from '../../parts/time.tsx';
import { FailedCalls } from '../../runs/failed-calls.tsx';
import { errorText } from '../../runs/labels.ts';
import { lacks } from '../../server/viewer.ts';
import type { Failure, HomeBot } from './use-home.ts';

/** The last 24 hours in numbers. */
export function LastDay({ bot: { id, stats } }: { bot: HomeBot }) {
  const runsAddress = useRunsAddress(id);
  if (!stats)
    return <p className="soft home-note">{lacks('RUNS')} It is needed to read statistics.</p>;
  const { runs, failed, latencyP50, latencyP95, tokens, thumbsUp, thumbsDown, perHour } = stats;
  return (
    <section aria-label="The last 24 hours">
      <h3>Last 24 hours</h3>
      <dl className="home-numbers">
        <Fact name="Runs">
          <Link href={runsAddress({})}>{count(runs)}</Link>
          <Sparkline bars={perHour ?? []} label={`${count(runs)} runs, ${count(failed)} failed`} />
        </Fact>
        <Fact name="Failed">
          <Link
            href={runsAddress({ status: 'failed' })}
            className={failed > 0 ? 'home-failed' : undefined}
          >
            {count(failed)}
          </Link>
          {runs > 0 && <small className="soft">{((failed / runs) * 100).toFixed(1)} %</small>}
        </Fact>
        <Fact name="Latency, median">{latencyP50 === null ? '–' : duration(latencyP50)}</Fact>
        <Fact name="Latency, p95">{latencyP95 === null ? '–' : duration(latencyP95)}</Fact>
        <Fact name="Tokens">{count(tokens)}</Fact>
        <Fact name="Rated good, bad">
          {count(thumbsUp)}, {count(thumbsDown)}
        </Fact>
      </dl>
    </section>
  );
}

/** The parameters of the runs of the last day. */
function searchOf(filter: { status?: 'failed' }, environment: Environment | undefined) {
  return new URLSearchParams({
    range: '24h',
    ...filter,
    ...environmentParameter(environment),
  }).toString();
}

/** The address of the runs of the last day, in the environment that the switch selects. */
function useRunsAddress(botId: string): (filter: { status?: 'failed' }) => string {
  const { chosen } = useEnvironment();
  return (filter) => `/bots/${botId}/runs?${searchOf(filter, chosen)}`;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="number">{children}</dd>
    </div>
  );
}

/** The latest failed runs, and the completed ones with failed tool calls, with their reasons. */
export function Failures({
  bot: { id, stats },
  failures,
}: {
  bot: HomeBot;
  failures: Failure[] | undefined;
}) {
  const runsAddress = useRunsAddress(id);
  const { chosen } = useEnvironment();
  if (!stats) return null;
  return (
    <section aria-label="Latest failures">
      <header>
        <h3>Latest failures</h3>
        {stats.failed > 0 && (
          <Link href={runsAddress({ status: 'failed' })}>All {count(stats.failed)}</Link>
        )}
      </header>
      {failures === undefined ? (
        <Skeleton height={80} />
      ) : failures.length === 0 ? (
        <p className="soft home-note">No run and no tool call failed in the last 24 hours.</p>
      ) : (
        <ul className="home-list">
          {failures.map(({ id: runId, inputExcerpt, error, failedToolCalls, ...run }) => (
            <li key={runId}>
              {error ? (
                <Status icon="warning" tone="bad">
                  {errorText(error.code)}
                </Status>
              ) : (
                <FailedCalls count={failedToolCalls} />
              )}
              <Link
                href={`/runs/${runId}?${searchOf(error ? { status: 'failed' } : {}, chosen)}`}
                className="cut"
                dir="auto"
              >
                {inputExcerpt.trim() || '(empty)'}
              </Link>
              <span className="soft">{toLowerCase(run.environment)}</span>
              <span className="soft">
                <RelativeTime at={run.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
