/** Deltas per run that are emitted immediately. */
const SINGLE_DELTAS = 32_768;
/** Characters per delta after that. */
const COALESCED = 256;

export type DeltaCoalescer = {
  push(delta: string): void;
  /** Emits the buffered text. Call it before an event that follows the text, and at the end. */
  flush(): void;
};

/**
 * Bounds the number of deltas in a run, because each one is buffered, stored and replayed. The first 32,768 deltas are
 * emitted immediately; later text is coalesced into deltas of 256 characters.
 */
export function createDeltaCoalescer(emit: (delta: string) => void): DeltaCoalescer {
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
    flush,
  };
}
