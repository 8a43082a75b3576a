import { useState } from 'react';
import { SessionRuns } from '../../generated/operations/console.ts';
import type { SessionName } from '../chat/use-stored-session.ts';
import { createUseChanges } from '../server/use-changes.ts';
import { isActive } from './labels.ts';

const useRunChanges = createUseChanges(SessionRuns);

/**
 * Follows the runs of a session.
 *
 * @param onChange called when a run is over, and when runs may have been missed.
 * @param isWanted whether to follow.
 * @returns the id of a run that is active.
 */
export function useSessionRuns(
  { botId, environment, sessionId }: SessionName,
  onChange: () => void,
  isWanted = true,
): string | undefined {
  const [active, setActive] = useState<string>();
  const variables = isWanted ? { botId, filter: { environment, user: sessionId } } : undefined;
  useRunChanges(variables, (change) => {
    if (change && isActive(change.run.status)) return setActive(change.run.id);
    setActive((before) => (change && before !== change.run.id ? before : undefined));
    onChange();
  });
  return active;
}
