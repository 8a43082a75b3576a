import { createStore } from '../server/store.ts';

/** The bot of the open screen if its address does not name it, as that of a run. */
export const shownBot = createStore<string | undefined>(undefined);
