import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { scrollArea } from '../../parts/copy.tsx';
import { Failed } from '../../parts/state.tsx';
import { ClockTime, duration } from '../../parts/time.tsx';
import type { ChatEvent } from '../../server/chat-event.ts';
import { TOOL_STATUSES } from '../../tool-calls/labels.ts';
import type { ShownRun } from './use-run.ts';
import type { RunEvents as Events } from './use-run-events.ts';

/** Height of an event, in pixels, and events that show before the list scrolls by itself. */
const ROW = 26;
const SHOWN = 18;

/**
 * Every event of a run with its number, its time and the time since the request. The events of a run that ended before
 * times were stored have none. Only the visible events are in the page.
 */
export function RunEvents({
  run,
  events: { events, problem, isOver },
  onRetry,
}: {
  run: ShownRun;
  events: Events;
  onRetry(): void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const createdAt = Date.parse(run.createdAt);
  const virtualizer = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
    useFlushSync: false,
  });
  if (problem) return <Failed problem={problem} onRetry={onRetry} />;
  if (events.length === 0)
    return (
      <p className="faint run-note" aria-busy={!isOver}>
        {isOver ? 'The events of this run are no longer stored.' : 'Reading the events…'}
      </p>
    );
  return (
    <div
      ref={scroller}
      className="run-events"
      style={{ height: Math.min(events.length, SHOWN) * ROW }}
      {...scrollArea('Events')}
    >
      <ol style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const arrived = events[index];
          if (!arrived) return null;
          const { event } = arrived;
          return (
            <li key={event.seq} style={{ transform: `translateY(${start}px)` }}>
              <span className="number faint">{event.seq}</span>
              <span className="number run-event-clock">
                {event.at && <ClockTime at={event.at} />}
              </span>
              <span className="number run-event-time">
                {event.at && `+${duration(Date.parse(event.at) - createdAt)}`}
              </span>
              <span className={isFailure(event) ? 'run-failed' : undefined}>{titleOf(event)}</span>
              <span className="mono cut">{detailOf(event)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function outcomeOf({
  status,
  failed,
  durationMs = 0,
}: Extract<ChatEvent, { type: 'tool_finished' }>): string {
  if (status && status !== 'COMPLETED' && status !== 'FAILED') return TOOL_STATUSES[status].word;
  return `${failed ? 'failed' : 'succeeded'} after ${duration(durationMs)}`;
}

const TITLES = {
  run_started: 'Run started',
  text: 'Text',
  tool_started: 'Tool started',
  tool_finished: 'Tool finished',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

function titleOf(event: ChatEvent): string {
  return TITLES[(event.type === 'done' && event.status) || event.type];
}

function isFailure(event: ChatEvent): boolean {
  return event.type === 'done' && event.status === 'failed';
}

function detailOf(event: ChatEvent): string {
  switch (event.type) {
    case 'run_started':
      return '';
    case 'text':
      return JSON.stringify(event.delta);
    case 'tool_started':
      return event.name;
    case 'tool_finished':
      return `${event.name} ${outcomeOf(event)}`;
    case 'done': {
      const { error, tokensUsed = 0 } = event;
      return error
        ? `${error.code}: ${error.message}`
        : `${tokensUsed.toLocaleString('en')} tokens`;
    }
  }
}
