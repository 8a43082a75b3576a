import { Link, useSearchParams } from 'wouter';
import { IconButton } from '../../parts/button.tsx';
import { Empty, Failed } from '../../parts/state.tsx';
import { FailedCalls } from '../../runs/failed-calls.tsx';
import { runAddress } from '../../runs/filter.ts';
import { RunBadge } from '../../runs/run-badge.tsx';
import { RunActions } from '../run/run-actions.tsx';
import { RunBody } from '../run/run-body.tsx';
import { RunLoading } from '../run/run-loading.tsx';
import { placeIn, withPlace } from '../run/run-place.ts';
import { failedCallsOf, useRun } from '../run/use-run.ts';
import './run-panel.css';

/** A run beside the list. */
export function RunPanel({ id, botId, onClose }: { id: string; botId: string; onClose(): void }) {
  const [search, setSearch] = useSearchParams();
  const place = placeIn(search);
  const reading = useRun(id, place.tab === 'events');
  const { run, problem, retry } = reading;
  const isOther = run !== undefined && run.bot.id !== botId;
  return (
    <section className="run-panel" aria-label="Open run">
      <header>
        {run && <RunBadge status={run.status} />}
        {run && <FailedCalls count={failedCallsOf(run)} />}
        <Link href={runAddress(id, search)} className="mono cut">
          {id.length > 24 ? `${id.slice(0, 14)}…${id.slice(-6)}` : id}
        </Link>
        <span className="run-panel-actions">
          {run && <RunActions run={run} onCancelled={retry} />}
          <IconButton label="Close the run" icon="close" onClick={onClose} />
        </span>
      </header>
      <div className="run-panel-body">
        {run && !isOther ? (
          <RunBody
            run={run}
            reading={reading}
            place={place}
            onPlace={(change) =>
              setSearch((before) => withPlace(before, { ...place, ...change }), { replace: true })
            }
          />
        ) : isOther || problem?.code === 'RUN_NOT_FOUND' ? (
          <Empty title="This bot has no such run">
            <p>It was deleted, or its retention is over.</p>
          </Empty>
        ) : problem ? (
          <Failed problem={problem} onRetry={retry} />
        ) : (
          <RunLoading />
        )}
      </div>
    </section>
  );
}
