import { memo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { RatingCounts } from '../../feedback/rating-counts.tsx';
import { duration, ShortTime } from '../../parts/time.tsx';
import { FailedCalls } from '../../runs/failed-calls.tsx';
import { CHANNELS, ENTRANCES, errorText, isActive, KINDS } from '../../runs/labels.ts';
import { RunBadge } from '../../runs/run-badge.tsx';
import { COLUMNS, type ColumnName } from './columns.ts';
import type { ListedRun } from './use-runs.ts';

/** A run of the list: a link to its page. */
export const RunRow = memo(function RunRow({
  run,
  address,
  index,
  columns,
  isSelected,
  isReachable,
  compared,
  onOpen,
}: {
  run: ListedRun;
  /** Of its page. */
  address: string;
  index: number;
  columns: readonly ColumnName[];
  isSelected: boolean;
  /** Whether the key Tab stops at this row. */
  isReachable: boolean;
  /** The id of the run with which this one is to be compared. */
  compared: string | undefined;
  /** Opens the run beside the list. @returns whether it has room for that. */
  onOpen(id: string): boolean;
}) {
  return (
    <tr
      className={isSelected ? 'run-row run-row-selected' : 'run-row'}
      // The first row has the names.
      aria-rowindex={index + 2}
    >
      {COLUMNS.filter(({ name }) => columns.includes(name)).map(({ name }) => (
        <td key={name} data-column={name}>
          {name === 'input' ? (
            <Excerpts run={run}>
              <Link
                href={compared ? `/runs/${compared}/compare/${run.id}` : address}
                className="run-link cut"
                dir="auto"
                data-index={index}
                aria-current={isSelected || undefined}
                tabIndex={isReachable ? 0 : -1}
                onClick={(event) => {
                  const isPlain = !event.metaKey && !event.ctrlKey && !event.shiftKey;
                  // The key Enter makes a click without a count.
                  if (isPlain && !compared && event.detail > 0 && onOpen(run.id))
                    event.preventDefault();
                }}
              >
                {run.inputExcerpt.trim() || <span className="faint">(empty)</span>}
              </Link>
            </Excerpts>
          ) : (
            cellOf(run, name)
          )}
        </td>
      ))}
    </tr>
  );
});

/** The message, with the failed tool calls and the beginning of the reply or the error below it. */
function Excerpts({ run, children }: { run: ListedRun; children: ReactNode }) {
  const reply = run.responseExcerpt?.trim();
  return (
    <>
      {children}
      <span className="run-reply">
        <FailedCalls count={run.failedToolCalls} />
        {run.error ? (
          <span className="run-reply-error cut">{errorText(run.error.code)}</span>
        ) : (
          <span className="cut" dir="auto">
            {reply || (isActive(run.status) ? 'No text yet' : 'No reply')}
          </span>
        )}
      </span>
    </>
  );
}

function cellOf(run: ListedRun, name: Exclude<ColumnName, 'input'>): ReactNode {
  switch (name) {
    case 'status':
      return <RunBadge status={run.status} />;
    case 'time':
      return <ShortTime at={run.createdAt} />;
    case 'user':
      return run.user ? (
        <span className="mono cut" title={run.user}>
          {run.user}
        </span>
      ) : (
        NONE
      );
    case 'tools':
      return run.toolsCalled.length > 0 ? (
        <span className="mono cut" title={run.toolsCalled.join(', ')}>
          {run.toolsCalled.join(', ')}
        </span>
      ) : (
        NONE
      );
    case 'model':
      return run.model ? <span className="cut">{run.model}</span> : NONE;
    case 'channel':
      return CHANNELS[run.channel];
    case 'entrance':
      return run.entrance ? ENTRANCES[run.entrance] : NONE;
    case 'environment':
      return toLowerCase(run.environment);
    case 'kind':
      return KINDS[run.kind];
    case 'error':
      return run.error ? <span className="mono cut">{run.error.code.toLowerCase()}</span> : NONE;
    case 'deployment':
      return run.deployment ? (
        <span className="mono" title={run.deployment.id}>
          …{run.deployment.id.slice(-6)}
        </span>
      ) : (
        NONE
      );
    case 'feedback':
      return run.feedback.length > 0 ? <RatingCounts feedback={run.feedback} /> : NONE;
    case 'latency':
      return run.latencyMs === null ? NONE : duration(run.latencyMs);
    case 'tokens':
      return run.tokensUsed.toLocaleString('en');
  }
}

const NONE = <span className="faint">–</span>;
