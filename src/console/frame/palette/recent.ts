import { readItem, writeItem } from '../storage.ts';

const MOST = 20;

/** Ids of the commands that an account used in this browser, the last used one first. */
export function recentCommands(accountId: string): string[] {
  try {
    const kept: unknown = JSON.parse(readItem(nameFor(accountId)) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

/** Moves a command to the front. */
export function noteCommand(accountId: string, id: string): void {
  const others = recentCommands(accountId).filter((other) => other !== id);
  writeItem(nameFor(accountId), JSON.stringify([id, ...others].slice(0, MOST)));
}

function nameFor(accountId: string): string {
  return `parley:recent:${accountId}`;
}
