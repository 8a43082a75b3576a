/** Deltas of a run that are emitted as they arrive. */
const SINGLE_DELTAS = 32_768;
/** Characters of each delta after those. */
const COALESCED = 256;

/**
 * Bounds the number of a run's deltas, each of which is held, stored and replayed: the first 32,768 are emitted as they
 * arrive, all after those coalesce to 256 characters.
 */
export function createDeltaCoalescer(emit: (delta: string) => void) {
  let emitted = 0;
  let held = '';
  const flush = () => {
    if (held === '') return;
    const delta = held;
    held = '';
    emitted += 1;
    emit(delta);
  };
  return {
    push(delta: string) {
      held += delta;
      if (emitted < SINGLE_DELTAS || held.length >= COALESCED) flush();
    },
    /** Emits what is held: before an event that follows the text, and at its end. */
    flush,
  };
}
