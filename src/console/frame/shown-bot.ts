import { createStore } from '../server/store.ts';

/** The bot of the open screen if its address does not name it, for example on the page of a run. */
export const shownBot = createStore<string | undefined>(undefined);
