import { useEffect, useState } from 'react';
import { SessionRuns } from '../../generated/operations/console.ts';
import type { SessionName } from '../chat/use-stored-session.ts';
import { followAlways } from '../server/follow.ts';
import { session } from '../server/session.ts';
import { useStore } from '../server/store.ts';
import { useVisible } from '../server/visible.ts';
import { isActive } from './labels.ts';

/**
 * Follows the runs of a session. A hidden tab does not.
 *
 * @param onChange called when a run is over, and when runs may have been missed. It stays the same function.
 * @param isWanted whether to follow.
 * @returns the id of a run that is active.
 */
export function useSessionRuns(
  { botId, environment, sessionId }: SessionName,
  onChange: () => void,
  isWanted = true,
): string | undefined {
  const isVisible = useVisible();
  const isSignedIn = useStore(session) === 'open';
  const [active, setActive] = useState<string>();
  const isFollowing = isWanted && isVisible && isSignedIn;
  useEffect(() => {
    if (!isFollowing) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const filter = { environment, user: sessionId };
    const onConnected = () => {
      setActive(undefined);
      onChange();
    };
    void followAlways(
      SessionRuns,
      { botId, filter },
      { signal, onConnected },
      ({ run: { id, status } }) => {
        if (signal.aborted) return;
        if (isActive(status)) return setActive(id);
        setActive((before) => (before === id ? undefined : before));
        onChange();
      },
    );
    return () => controller.abort();
  }, [botId, environment, sessionId, isFollowing, onChange]);
  return active;
}
