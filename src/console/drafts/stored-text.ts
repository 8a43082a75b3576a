import { MAX_SOURCE_BYTES } from '../../language/source.ts';
import { itemNames, readItem, removeItem, writeItem } from '../frame/storage.ts';
import { renewTabId, tabId } from './tab-id.ts';

/** A text that is not deployed. */
type StoredText = {
  text: string;
  /** The id of the deployment that it is based on; null if none. */
  baseId: string | null;
};

/** Where a text belongs. Account ids are unique over servers. */
export type TextPlace = { accountId: string; botId: string; environment: string };

const PREFIX = 'studio:';

/** Texts that a browser keeps at most. The one that changed least recently is removed first. */
const MAX_KEPT = 8;

/** The texts of this tab by their places, also for browsers that block storage. */
const inMemory = new Map<string, StoredText>();

/** The texts of other tabs that this tab opened and did not change yet, by their places. */
const borrowed = new Map<string, Entry>();

/** The beginning of the names of a place's texts. Each tab has a separate text. */
const prefixOf = ({ accountId, botId, environment }: TextPlace): string =>
  `${PREFIX}${accountId}:${botId}:${environment}:`;

const nameOf = (place: TextPlace): string => prefixOf(place) + tabId();

/**
 * Opens the text of this tab or, without one, the newest text of another tab. That one stays the other tab's until this
 * tab keeps or forgets a text.
 *
 * @returns the text, and whether it survives a reload.
 */
export function openText(place: TextPlace): (StoredText & { isKept: boolean }) | undefined {
  const stored = read(nameOf(place));
  const own = inMemory.get(prefixOf(place)) ?? stored;
  if (own) {
    inMemory.set(prefixOf(place), own);
    return { ...own, isKept: own.text === stored?.text || keepText(place, own) };
  }
  const newest = entriesOf(prefixOf(place)).at(-1);
  if (!newest) return undefined;
  borrowed.set(prefixOf(place), newest);
  return { ...newest, isKept: true };
}

/** The text of this tab or, without one, the newest text of another tab. Both stay as they are. */
export function newestText(place: TextPlace): string | undefined {
  const own = inMemory.get(prefixOf(place)) ?? read(nameOf(place));
  return (own ?? entriesOf(prefixOf(place)).at(-1))?.text;
}

/** Keeps a text for this tab. @returns whether it survives a reload. */
export function keepText(place: TextPlace, { text, baseId }: StoredText): boolean {
  const name = nameOf(place);
  inMemory.set(prefixOf(place), { text, baseId });
  // No deployment takes a larger text.
  if (text.length > MAX_SOURCE_BYTES) return false;
  forgetBorrowed(place);
  removeOldest(name);
  return writeItem(name, JSON.stringify({ text, baseId, savedAt: Date.now() }));
}

/** Forgets the text of this tab. The texts of other tabs stay. */
export function forgetText(place: TextPlace): void {
  inMemory.delete(prefixOf(place));
  removeItem(nameOf(place));
  forgetBorrowed(place);
}

/**
 * Keeps the text of this tab again if another tab removes or replaces it, as a tab does that opened the same text.
 *
 * @param onKept called with whether the text still survives a reload.
 * @returns a function that ends it.
 */
export function defendText(place: TextPlace, onKept: (isKept: boolean) => void): () => void {
  const restore = ({ key, newValue }: StorageEvent) => {
    const own = inMemory.get(prefixOf(place));
    if (!own || key !== nameOf(place)) return;
    // Only a duplicate of this tab writes under its id.
    if (newValue !== null) renewTabId();
    // Two tabs must not remove each other's texts in turns.
    const hasRoom = itemNames(PREFIX).length < MAX_KEPT;
    onKept(hasRoom && keepText(place, own));
  };
  addEventListener('storage', restore);
  return () => removeEventListener('storage', restore);
}

/** Removes the text that this tab opened from another one, unless the other tab has changed it since. */
function forgetBorrowed(place: TextPlace): void {
  const entry = borrowed.get(prefixOf(place));
  borrowed.delete(prefixOf(place));
  if (entry && read(entry.name)?.savedAt === entry.savedAt) removeItem(entry.name);
}

type Stored = StoredText & { savedAt: number };

type Entry = Stored & { name: string };

/** The stored texts whose names begin with a prefix, the oldest first. */
function entriesOf(prefix: string): Entry[] {
  return itemNames(prefix)
    .flatMap((name) => {
      const stored = read(name);
      return stored ? [{ ...stored, name }] : [];
    })
    .sort((one, two) => one.savedAt - two.savedAt);
}

function read(name: string): Stored | undefined {
  const text = readItem(name);
  if (text === null) return undefined;
  try {
    const stored: unknown = JSON.parse(text);
    return isStored(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

function isStored(value: unknown): value is Stored {
  if (typeof value !== 'object' || value === null) return false;
  if (!('text' in value && 'baseId' in value && 'savedAt' in value)) return false;
  const { text, baseId, savedAt } = value;
  const isBase = baseId === null || typeof baseId === 'string';
  return typeof text === 'string' && isBase && typeof savedAt === 'number';
}

function removeOldest(name: string): void {
  const others = itemNames(PREFIX).filter((other) => other !== name);
  if (others.length < MAX_KEPT) return;
  const byAge = others
    .map((other) => ({ other, savedAt: read(other)?.savedAt ?? 0 }))
    .sort((one, two) => one.savedAt - two.savedAt);
  for (const { other } of byAge.slice(0, others.length - MAX_KEPT + 1)) removeItem(other);
}
