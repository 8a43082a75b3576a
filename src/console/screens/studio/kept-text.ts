import { MAX_SOURCE_BYTES } from '../../../language/source.ts';
import { forget, keep, keptNames, recall } from '../../frame/storage.ts';

/** A text that is not deployed. */
export type KeptText = {
  text: string;
  /** The id of the deployment that it is based on; null if none. */
  baseId: string | null;
};

/** Where a text belongs. Account ids are unique over servers. */
export type TextPlace = { accountId: string; botId: string; environment: string };

const PREFIX = 'studio:';

/** Texts that a browser keeps at most. The one that changed least recently is removed first. */
const MOST_KEPT = 8;

/** The texts of this tab, for browsers that block storage. */
const inMemory = new Map<string, KeptText>();

const nameOf = ({ accountId, botId, environment }: TextPlace): string =>
  `${PREFIX}${accountId}:${botId}:${environment}`;

export function keptTextOf(place: TextPlace): KeptText | undefined {
  const name = nameOf(place);
  return inMemory.get(name) ?? read(name);
}

/** Keeps a text. @returns whether it survives a reload. */
export function keepText(place: TextPlace, kept: KeptText): boolean {
  const name = nameOf(place);
  inMemory.set(name, kept);
  // No deployment takes a larger text.
  if (kept.text.length > MAX_SOURCE_BYTES) return false;
  removeOldest(name);
  return keep(name, JSON.stringify({ ...kept, savedAt: Date.now() }));
}

export function forgetText(place: TextPlace): void {
  inMemory.delete(nameOf(place));
  forget(nameOf(place));
}

type Stored = KeptText & { savedAt: number };

function read(name: string): Stored | undefined {
  const text = recall(name);
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
  const others = keptNames(PREFIX).filter((other) => other !== name);
  if (others.length < MOST_KEPT) return;
  const byAge = others
    .map((other) => ({ other, savedAt: read(other)?.savedAt ?? 0 }))
    .sort((one, two) => one.savedAt - two.savedAt);
  for (const { other } of byAge.slice(0, others.length - MOST_KEPT + 1)) forget(other);
}
