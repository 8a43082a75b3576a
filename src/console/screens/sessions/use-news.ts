import { useEffect, useState } from 'react';
import { SessionRuns } from '../../../generated/operations/console.ts';
import type { SessionName } from '../../chat/use-stored-session.ts';
import { isActive } from '../../runs/words.ts';
import { followAlways } from '../../server/follow.ts';
import { session } from '../../server/session.ts';
import { useStore } from '../../server/store.ts';
import { useVisible } from '../../server/visible.ts';

/**
 * Follows the runs of a session. A hidden tab does not.
 *
 * @param onNews called when a run is over, and when runs may have been missed. It stays the same function.
 * @returns the id of a run that is active.
 */
export function useNews(
  { botId, environment, sessionId }: SessionName,
  onNews: () => void,
): string | undefined {
  const isVisible = useVisible();
  const isSignedIn = useStore(session) === 'open';
  const [active, setActive] = useState<string>();
  const isFollowing = isVisible && isSignedIn;
  useEffect(() => {
    if (!isFollowing) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const filter = { environment, user: sessionId };
    const onConnected = () => {
      setActive(undefined);
      onNews();
    };
    void followAlways(
      SessionRuns,
      { botId, filter },
      { signal, onConnected },
      ({ run: { id, status } }) => {
        if (signal.aborted) return;
        if (isActive(status)) return setActive(id);
        setActive((before) => (before === id ? undefined : before));
        onNews();
      },
    );
    return () => controller.abort();
  }, [botId, environment, sessionId, isFollowing, onNews]);
  return active;
}
