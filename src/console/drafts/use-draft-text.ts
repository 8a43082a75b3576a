import { useCallback, useEffect, useState } from 'react';
import type { Environment } from '../../vocabulary/environments.ts';
import { useViewer } from '../server/viewer.ts';
import { newestText } from './stored-text.ts';

/**
 * The text in the Studio that is not deployed, as this browser keeps it. It follows the changes of other tabs.
 *
 * @param environment whose text is read. Absent: none is.
 */
export function useDraftText(
  botId: string,
  environment: Environment | undefined,
): string | undefined {
  const accountId = useViewer().account.id;
  const read = useCallback(
    () => (environment ? newestText({ accountId, botId, environment }) : undefined),
    [accountId, botId, environment],
  );
  const [last, setLast] = useState(() => ({ read, text: read() }));
  useEffect(() => {
    const update = () => setLast({ read, text: read() });
    update();
    addEventListener('storage', update);
    return () => removeEventListener('storage', update);
  }, [read]);
  // The text of another place must not show until the effect has run.
  return last.read === read ? last.text : read();
}
