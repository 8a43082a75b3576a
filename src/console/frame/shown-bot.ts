import { useLocation } from 'wouter';
import { createStore, useStore } from '../server/store.ts';

/** The bot of the open screen if its address does not name it, for example on the page of a run. */
export const shownBot = createStore<string | undefined>(undefined);

/** @returns the id of the bot that the address names, or whose run is open. */
export function useShownBot(): string | undefined {
  const [location] = useLocation();
  const ofRun = useStore(shownBot);
  return /^\/bots\/(?!new\/?$)([^/]+)/.exec(location)?.[1] ?? ofRun;
}
