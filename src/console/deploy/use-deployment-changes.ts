import { useEffect, useEffectEvent } from 'react';
import { DeploymentChanges } from '../../generated/operations/console.ts';
import { followAlways } from '../server/follow.ts';
import { session } from '../server/session.ts';
import { useStore } from '../server/store.ts';
import { useVisible } from '../server/visible.ts';

/**
 * Follows the deployments of a bot while the tab is shown.
 *
 * @param onChange called at each change, and when following begins, because of what may have changed before.
 */
export function useDeploymentChanges(botId: string, onChange: () => void): void {
  const isSignedIn = useStore(session) === 'open';
  const isVisible = useVisible();
  const changed = useEffectEvent(onChange);
  useEffect(() => {
    if (!isSignedIn || !isVisible) return undefined;
    return subscribe(botId, () => changed());
  }, [botId, isSignedIn, isVisible]);
}

type Source = { listeners: Set<() => void>; controller: AbortController };

/** One connection for each bot. A browser allows few to a server. */
const sources = new Map<string, Source>();

function subscribe(botId: string, listener: () => void): () => void {
  const source = sources.get(botId) ?? begin(botId);
  source.listeners.add(listener);
  return () => {
    source.listeners.delete(listener);
    if (source.listeners.size > 0) return;
    source.controller.abort();
    if (sources.get(botId) === source) sources.delete(botId);
  };
}

function begin(botId: string): Source {
  const source: Source = { listeners: new Set(), controller: new AbortController() };
  sources.set(botId, source);
  const notify = () => {
    for (const listener of [...source.listeners]) listener();
  };
  const { signal } = source.controller;
  void followAlways(DeploymentChanges, { botId }, { signal, onConnected: notify }, notify);
  return source;
}
