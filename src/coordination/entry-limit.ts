/** Limits a cache to this many entries. Unlike `max`, it allocates memory for an entry only when it is added. */
export const entryLimit = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
