import { type KeyboardEvent, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Environment } from '../../../generated/operations/console.ts';
import { environmentQuery, useEnvironment } from '../../frame/environments.ts';
import { quantity } from '../../numbers.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Empty, Failed, Refused, Skeleton } from '../../parts/state.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { FailedCalls } from '../../runs/failed-calls.tsx';
import { errorText, isActive } from '../../runs/labels.ts';
import { RunBadge } from '../../runs/run-badge.tsx';
import { useStore } from '../../server/store.ts';
import type { Pages } from '../../server/use-pages.ts';
import { columnChoice } from './columns.ts';
import { type Place, sessionsAddress } from './place.ts';
import { SessionFinder } from './session-finder.tsx';
import type { ListedSession } from './use-sessions.ts';

/** Width of the window, in pixels, from which a session opens beside the list. */
const WIDE = 900;

/** The sessions as links. Arrow keys open the next one beside the list, Enter opens it. */
export function SessionList({
  botId,
  place,
  pages,
  onPlace,
}: {
  botId: string;
  place: Place;
  pages: Pages<ListedSession>;
  onPlace(change: Partial<Place>, isReplaced?: boolean): void;
}) {
  const { environment } = useEnvironment();
  const { user } = place;
  return (
    <div className="session-list">
      <SessionFinder
        key={user}
        user={user ?? ''}
        onFind={(id) => onPlace({ user: id || undefined })}
      />
      <Rows botId={botId} place={place} pages={pages} onPlace={onPlace} key={environment} />
    </div>
  );
}

function Rows({
  botId,
  place: { user },
  pages: { rows: sessions, isFirst, isReading, problem, hasMore, readMore, readAgain },
  onPlace,
}: Parameters<typeof SessionList>[0]) {
  const list = useRef<HTMLUListElement>(null);
  const { chosen, environment } = useEnvironment();
  if (isFirst) {
    if (problem) return <Failed problem={problem} onRetry={readAgain} />;
    return <LoadingRows />;
  }
  if (sessions.length === 0) return <NoSessions botId={botId} environment={environment} />;
  const at = sessions.findIndex(({ sessionId }) => sessionId === user);
  const move = (event: KeyboardEvent) => {
    const { key, target } = event;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    const link = target instanceof HTMLElement ? target.closest('a') : null;
    if (!step || !link || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const from = Number(link.dataset.index);
    // The first key press opens the session of the focused row.
    const to = at === -1 && step === 1 && innerWidth >= WIDE ? from : from + step;
    const session = sessions[to];
    if (!session) return;
    if (innerWidth >= WIDE) onPlace({ user: session.sessionId }, true);
    list.current?.querySelector<HTMLElement>(`a[data-index="${to}"]`)?.focus();
  };
  return (
    <div className="session-scroll" aria-busy={isReading}>
      <ul ref={list} aria-label="Sessions" onKeyDown={move}>
        {sessions.map((session, index) => (
          <li key={session.id}>
            <SessionLink
              href={sessionsAddress(botId, { environment: chosen, user: session.sessionId })}
              session={session}
              index={index}
              isSelected={index === at}
              isReachable={index === Math.max(at, 0)}
            />
          </li>
        ))}
      </ul>
      {problem ? (
        <div className="session-more">
          <Refused problem={problem} />
          <Button onClick={readMore}>Try again</Button>
        </div>
      ) : (
        hasMore && (
          <div className="session-more">
            <Button isBusy={isReading} onClick={readMore}>
              Show more
            </Button>
          </div>
        )
      )}
    </div>
  );
}

function SessionLink({
  href,
  session,
  index,
  isSelected,
  isReachable,
}: {
  href: string;
  session: ListedSession;
  index: number;
  isSelected: boolean;
  /** Whether the key Tab stops at this row. */
  isReachable: boolean;
}) {
  const { sessionId, turns, lastSeenAt, lastRun } = session;
  const columns = useStore(columnChoice.shown);
  const row = useRef<HTMLAnchorElement>(null);
  // The session of the address may be far down.
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  return (
    <Link
      ref={row}
      href={href}
      className="session-row"
      data-index={index}
      aria-current={isSelected || undefined}
      tabIndex={isReachable ? 0 : -1}
    >
      <span className="session-row-id mono cut" dir="auto" title={sessionId}>
        {sessionId}
      </span>
      <SessionTexts session={session} />
      {columns.includes('status') && (
        <span className="session-row-status">
          {lastRun && <RunBadge status={lastRun.status} />}
          <FailedCalls count={lastRun?.failedToolCalls ?? 0} />
        </span>
      )}
      {columns.includes('tokens') && (
        <span className="session-row-tokens number">
          {lastRun && `${lastRun.tokensUsed.toLocaleString('en')} tokens`}
        </span>
      )}
      {columns.includes('turns') && (
        <span className="session-row-turns number">{turnsText(turns)}</span>
      )}
      <span className="session-row-time number">
        <RelativeTime at={lastSeenAt} />
      </span>
    </Link>
  );
}

/** The last message of the user and the beginning of the reply, or why there is none. */
function SessionTexts({ session: { lastRun, excerpt } }: { session: ListedSession }) {
  if (!lastRun)
    return (
      <span className="session-row-text cut" dir="auto">
        {excerpt?.trim() || <span className="faint">No message is stored.</span>}
      </span>
    );
  const { inputExcerpt, responseExcerpt, error, status } = lastRun;
  return (
    <span className="session-row-text">
      <span className="session-row-asked cut" dir="auto">
        {inputExcerpt.trim() || excerpt?.trim() || <span className="faint">(empty)</span>}
      </span>
      {error ? (
        <span className="session-row-error cut">{errorText(error.code)}</span>
      ) : (
        <span className="cut" dir="auto">
          {responseExcerpt?.trim() || (isActive(status) ? 'No text yet' : 'No reply')}
        </span>
      )}
    </span>
  );
}

/** A number of turns as text. */
export function turnsText(turns: number): string {
  return quantity(turns, 'turn');
}

function NoSessions({ botId, environment }: { botId: string; environment: Environment }) {
  const isStaging = environment === 'STAGING';
  return (
    <Empty title={isStaging ? 'No sessions in staging yet' : 'No sessions yet'}>
      <p>
        The messages of one user to this bot are a session, with what the bot remembers about the
        user. Send the first one in the playground.
      </p>
      <ButtonLink href={`/bots/${botId}/playground${environmentQuery(environment)}`} look="primary">
        Open the playground
      </ButtonLink>
    </Empty>
  );
}

const LOADING = Array.from({ length: 8 }, (_, row) => row);

function LoadingRows() {
  return (
    <div className="session-scroll" aria-busy="true">
      {LOADING.map((row) => (
        <div key={row} className="session-row">
          <span className="session-row-id">
            <Skeleton width="96px" />
          </span>
          <span className="session-row-text">
            <Skeleton width="80%" />
          </span>
        </div>
      ))}
    </div>
  );
}
