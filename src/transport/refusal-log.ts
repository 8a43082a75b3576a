/** One line a second for each address. */
const EVERY_MS = 1_000;
/** Addresses with lines of their own. All others share one. */
const MAX_ADDRESSES = 100;
const OTHERS = 'others';

/** Writes a line. @param suppressed the number of earlier lines that were not written. */
type Write = (suppressed: number) => void;

/** Bounds the log lines of refused requests without a valid credential. */
export type RefusalLog = {
  /** Writes at once, or else the latest line of the address at the end of the second, with the number of the others. */
  note(address: string, write: Write): void;
  /** Writes the lines that wait. */
  flush(): void;
};

export function createRefusalLog(): RefusalLog {
  /** By address: the lines since its last written one. */
  const waiting = new Map<string, { latest: Write | undefined; suppressed: number }>();

  const writeLatest = (address: string) => {
    const { latest, suppressed } = waiting.get(address) ?? {};
    waiting.delete(address);
    if (!latest) return;
    begin(address);
    latest(suppressed ?? 0);
  };

  const begin = (address: string) => {
    waiting.set(address, { latest: undefined, suppressed: 0 });
    // Not a periodic task: it ends when no line waits.
    setTimeout(writeLatest, EVERY_MS, address).unref();
  };

  return {
    note(client, write) {
      const hasPlace = waiting.has(client) || waiting.size < MAX_ADDRESSES;
      const address = hasPlace ? client : OTHERS;
      const lines = waiting.get(address);
      if (!lines) {
        begin(address);
        write(0);
        return;
      }
      if (lines.latest) lines.suppressed += 1;
      lines.latest = write;
    },

    flush() {
      for (const { latest, suppressed } of waiting.values()) latest?.(suppressed);
      waiting.clear();
    },
  };
}
