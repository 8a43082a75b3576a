import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { textOf } from '../../chat/turn.ts';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/segments.tsx';
import { firstTokensOf } from '../../prompt/first-tokens.ts';
import { RunPrompt } from '../../prompt/run-prompt.tsx';
import './run.css';
import { isActive } from '../../runs/labels.ts';
import { RunContext } from './run-context.tsx';
import { RunEvents } from './run-events.tsx';
import { RunFacts } from './run-facts.tsx';
import { RunFeedback } from './run-feedback.tsx';
import { RunText } from './run-text.tsx';
import { RunTrace } from './run-trace.tsx';
import type { RunReading, ShownRun } from './use-run.ts';

/** The part of a run that the address selects. */
export type RunPlace = { tab: 'trace' | 'prompt' | 'events'; span: string | undefined };

const TABS = [
  { name: 'trace' as const, label: 'Steps' },
  { name: 'prompt' as const, label: 'Prompt' },
  { name: 'events' as const, label: 'Events' },
];

/** A run: its error, its message and reply, its trace or its events, and its facts. */
export function RunBody({
  run,
  reading: { isDeleted, events, problem, retry },
  place,
  onPlace,
}: {
  run: ShownRun;
  reading: RunReading;
  place: RunPlace;
  onPlace(change: Partial<RunPlace>): void;
}) {
  const isOpen = isActive(run.status);
  return (
    <div className="run">
      <aside className="run-side" aria-label="Facts">
        <RunFacts run={run} />
      </aside>
      <div className="run-main">
        {isDeleted && (
          <Notice>
            This run was deleted while it was open. The page shows the last state that was read.
          </Notice>
        )}
        {problem && !isDeleted && (
          <Notice>
            {problem.message} What you see may be out of date.{' '}
            <Button look="quiet" onClick={retry}>
              Try again
            </Button>
          </Notice>
        )}
        {run.error && (
          <p className="run-error">
            <strong className="mono">{run.error.code.toLowerCase()}</strong> {run.error.message}
            {run.error.detail && <span className="run-error-detail">{run.error.detail}</span>}
          </p>
        )}
        {run.trigger === 'APPROVAL' && <Cause run={run} />}
        <div className="run-said">
          <div className="run-answer">
            <RunText
              title={run.trigger === 'APPROVAL' ? 'Notice of the server' : 'Asked'}
              text={run.input}
            />
            <RunContext run={run} />
          </div>
          <div className="run-answer">
            <Reply run={run} text={isOpen ? liveTextOf(events) : (run.response ?? '')} />
            {!isOpen && <RunFeedback key={run.id} run={run} />}
          </div>
        </div>
        <section className="run-course" aria-label="Course of the run">
          <Segments<RunPlace['tab']>
            label="Course of the run"
            options={TABS}
            current={place.tab}
            onChange={(tab) => onPlace({ tab })}
          />
          {place.tab === 'trace' ? (
            <RunTrace
              run={run}
              events={events}
              span={place.span}
              onSpan={(span) => onPlace({ span })}
            />
          ) : place.tab === 'prompt' ? (
            <RunPrompt run={run} tokens={firstTokensOf(run)} />
          ) : (
            <RunEvents run={run} events={events} onRetry={retry} />
          )}
        </section>
      </div>
    </div>
  );
}

function Notice({ children }: { children: ReactNode }) {
  return (
    <p className="run-notice" role="status">
      {children}
    </p>
  );
}

/** Why a run began that nobody requested. */
function Cause({ run: { causedById } }: { run: ShownRun }) {
  return (
    <p className="run-note">
      The server began this run after the decision on a tool call, to tell the user the outcome.{' '}
      {causedById && <Link href={`/runs/${causedById}`}>Requesting run</Link>}
    </p>
  );
}

function Reply({ run, text }: { run: ShownRun; text: string }) {
  const isOpen = isActive(run.status);
  const isWhole = run.status === 'COMPLETED';
  const title = isWhole ? 'Replied' : 'Replied so far';
  if (text === '')
    return (
      <section className="run-text" aria-label={title}>
        <header>
          <h2>{title}</h2>
        </header>
        <p className="faint">{isOpen ? 'Waiting for the first text.' : 'Nothing.'}</p>
      </section>
    );
  // Markdown shows the object of a structured output as laid-out JSON.
  return <RunText title={title} text={text} isMarkdown />;
}

function liveTextOf({ turn }: RunReading['events']): string {
  return textOf(turn);
}
