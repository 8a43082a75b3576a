import type { Exchange, Recording } from '../../../server/recording.ts';
import { createStore, useStore } from '../../../server/store.ts';

const UNCHANGED = createStore(0);

/** The requests and responses of a reply. Renders again while they arrive. */
export function useExchanges(recording: Recording | undefined): readonly Exchange[] {
  useStore(recording?.changes ?? UNCHANGED);
  return recording?.exchanges ?? [];
}
