import { useEffect, useEffectEvent } from 'react';
import { followAlways } from './follow.ts';
import type { Persisted } from './persisted.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';
import { useVisible } from './visible.ts';

type Listener<Data> = (change: Data | undefined) => void;
type Source<Data> = { listeners: Set<Listener<Data>>; controller: AbortController };

/**
 * Follows changes of one kind while the tab is shown.
 *
 * @param variables of the subscription. `undefined` follows nothing.
 * @param onChange called with each change, and with `undefined` when following begins, because of what may have changed
 *   before.
 */
export type UseChanges<Data, Variables> = (
  variables: Variables | undefined,
  onChange: Listener<Data>,
) => void;

/** Makes the hook that follows a subscription. Users with the same variables share one connection, as a browser allows few. */
export function createUseChanges<Data, Variables extends object>(
  subscription: Persisted<Data, Variables>,
): UseChanges<Data, Variables> {
  const sources = new Map<string, Source<Data>>();

  /** @param key the variables as JSON. */
  const begin = (key: string): Source<Data> => {
    const source: Source<Data> = { listeners: new Set(), controller: new AbortController() };
    sources.set(key, source);
    const notify = (change?: Data) => {
      for (const listener of [...source.listeners]) listener(change);
    };
    const { signal } = source.controller;
    const options = { signal, onConnected: () => notify() };
    void followAlways(subscription, JSON.parse(key), options, notify);
    return source;
  };

  const follow = (key: string, listener: Listener<Data>) => {
    const source = sources.get(key) ?? begin(key);
    source.listeners.add(listener);
    return () => {
      source.listeners.delete(listener);
      if (source.listeners.size > 0) return;
      source.controller.abort();
      if (sources.get(key) === source) sources.delete(key);
    };
  };

  return function useChanges(variables, onChange) {
    const isSignedIn = useStore(session) === 'open';
    const isVisible = useVisible();
    const changed = useEffectEvent(onChange);
    const key = variables && JSON.stringify(variables);
    useEffect(() => {
      if (key === undefined || !isSignedIn || !isVisible) return undefined;
      return follow(key, (change) => changed(change));
    }, [key, isSignedIn, isVisible]);
  };
}
