import type { ReactNode } from 'react';
import { RunTrace, type RunTraceQuery } from '../../../../generated/operations/console.ts';
import { isOpen, type Turn } from '../../../chat/turn.ts';
import { count } from '../../../numbers.ts';
import { Id } from '../../../parts/copy.tsx';
import { Failed, Skeleton } from '../../../parts/state.tsx';
import { useNow } from '../../../parts/use-now.ts';
import { useServerQuery } from '../../../server/operations.ts';
import { AWAY } from '../../../server/problem.ts';
import { lacks, useScope } from '../../../server/viewer.ts';
import { liveRows } from '../../../trace/live-spans.ts';
import { rowsOf } from '../../../trace/stored-spans.ts';
import { Waterfall } from '../../../trace/waterfall.tsx';
import '../../../parts/pairs.css';

const REDRAW_MS = 100;
const sinceLoad = () => performance.now();

/** The trace of a reply: drawn from its events while it runs, then as it is stored. */
export function TraceTab({ turn }: { turn: Turn }) {
  const mayRead = useScope('RUNS');
  const { runId } = turn;
  if (!runId) return <p className="inspector-hint">{whyNoRun(turn)}</p>;
  if (isOpen(turn)) return <LiveTrace turn={turn} runId={runId} />;
  if (mayRead) return <StoredTrace turn={turn} runId={runId} />;
  return (
    <LiveTrace turn={turn} runId={runId}>
      <p className="faint">Drawn from the events of the reply. {lacks('RUNS')}</p>
    </LiveTrace>
  );
}

function whyNoRun(turn: Turn): string {
  if (isOpen(turn)) return 'Waiting for the run to start.';
  const { problem } = turn;
  // Only a refusal shows that no run was started. A whole reply names its run at its end.
  return problem && problem.code !== AWAY.code
    ? 'No run was started.'
    : 'The request ended before its run was known. The list of runs has the run if one was started.';
}

function LiveTrace({ turn, runId, children }: { turn: Turn; runId: string; children?: ReactNode }) {
  const now = useNow(sinceLoad, REDRAW_MS, isOpen(turn));
  return (
    <div className="inspector-body">
      <RunFacts runId={runId} />
      <Waterfall rows={liveRows(turn)} now={now - (turn.sentAt ?? now)} />
      {children}
    </div>
  );
}

function StoredTrace({ turn, runId }: { turn: Turn; runId: string }) {
  const { data, problem, retry } = useServerQuery(RunTrace, { id: runId });
  const run = data?.run;
  if (problem) return <Failed problem={problem} onRetry={retry} />;
  if (!run)
    return (
      <div className="inspector-body" aria-busy="true">
        <RunFacts runId={runId} />
        <Skeleton height={140} />
      </div>
    );
  const { spans } = run.trace;
  return (
    <div className="inspector-body">
      <RunFacts runId={runId} run={run} />
      {spans.length > 0 ? (
        <Waterfall rows={rowsOf(spans)} now={0} />
      ) : (
        <Waterfall rows={liveRows(turn)} now={0} />
      )}
    </div>
  );
}

function RunFacts({ runId, run }: { runId: string; run?: NonNullable<RunTraceQuery['run']> }) {
  return (
    <dl className="pairs">
      <div>
        <dt>Run</dt>
        <dd>
          <Id>{runId}</Id>
        </dd>
      </div>
      {run && <StoredFacts run={run} />}
    </dl>
  );
}

function StoredFacts({ run }: { run: NonNullable<RunTraceQuery['run']> }) {
  const { model, promptTokens, completionTokens, tokensEstimated, trace } = run;
  return (
    <>
      <div>
        <dt>Trace</dt>
        <dd>
          <Id>{trace.traceId}</Id>
        </dd>
      </div>
      <div>
        <dt>Model</dt>
        <dd>{model ?? 'none was called'}</dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd className="number">
          {count(promptTokens)} in · {count(completionTokens)} out
          {tokensEstimated && ' (estimated)'}
        </dd>
      </div>
    </>
  );
}
