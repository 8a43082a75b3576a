import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/state.tsx';
import { lacks, useScope } from '../server/viewer.ts';
import type { StoredSession } from './use-stored-session.ts';

/** A button that loads earlier turns, or the reason why there is none. */
export function EarlierTurns({
  stored: { problem, hasMore, isReading, readMore },
}: {
  stored: StoredSession;
}) {
  const mayRead = useScope('RUNS');
  if (problem) return <Failed problem={problem} onRetry={readMore} />;
  if (!mayRead)
    return <p className="conversation-note">Earlier messages are not shown. {lacks('RUNS')}</p>;
  if (!hasMore) return null;
  return (
    <p className="conversation-note">
      <Button look="quiet" isBusy={isReading} onClick={readMore}>
        Show earlier messages
      </Button>
    </p>
  );
}
